import etag from 'etag';
import { json, type Request, type RequestHandler, type Response, Router } from 'express';
import { hashOfApiKey, isApiKey, isWellFormedApiKey } from './api-key.ts';
import { bearerToken, type Caller, tokenRefused } from './caller.ts';
import type { Context } from './context.ts';
import type { Endpoint, Guard } from './endpoint.ts';
import { ApiError, notFound, unauthorized } from './errors.ts';
import { parse } from './parse.ts';
import { Deadline } from './upstream.ts';

/** Whom the credential of a request stands for. @throws ApiError unauthorized when it stands for nobody. */
async function callerOf(req: Request, guard: Guard, context: Context): Promise<Caller | null> {
  if (guard === 'none') return null;
  const token = bearerToken(req);
  if (token === null) {
    if (guard === 'optional') return null;
    throw unauthorized('Send an access token: Authorization: Bearer <token>.');
  }
  if (!isApiKey(token)) return await context.verify(token);
  if (guard === 'user' || !isWellFormedApiKey(token)) throw tokenRefused();
  return { via: 'api_key', keyHash: hashOfApiKey(token) };
}

const run = (middleware: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((resolve, reject) => {
    middleware(req, res, (error: unknown) => (error ? reject(error) : resolve()));
  });

/** Authenticates and counts. A request with a faulty credential is counted, too, on its address. */
async function admit(
  req: Request,
  res: Response,
  { guard }: Endpoint,
  context: Context,
): Promise<Caller | null> {
  try {
    const caller = await callerOf(req, guard, context);
    if (caller !== null) context.rateLimits.countAgainst(req, caller);
    await run(context.rateLimits.general, req, res);
    return caller;
  } catch (error) {
    if (!res.hasHeader('X-RateLimit-Limit')) await run(context.rateLimits.general, req, res);
    throw error;
  }
}

const readJson = { '16kb': json({ limit: '16kb' }), '32kb': json({ limit: '32kb' }) };

async function parseRequest(
  req: Request,
  res: Response,
  endpoint: Endpoint,
  context: Context,
  deadline: Deadline,
) {
  const params = endpoint.params?.safeParse(req.params);
  if (params?.success === false) throw notFound('address');
  const query = endpoint.query && parse(endpoint.query, req.query);
  if (endpoint.body) await deadline.excluding(run(readJson[endpoint.maxBody ?? '16kb'], req, res));
  const body = endpoint.body && parse(endpoint.body, req.body);
  if (endpoint.extraLimit) await run(context.rateLimits.extra[endpoint.extraLimit], req, res);
  return { params: params?.data, query, body };
}

/** Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do. */
function sendRevalidatable(req: Request, res: Response, payload: unknown) {
  const text = JSON.stringify(payload);
  const tag = etag(text, { weak: true });
  const held = req.headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? [];
  res.set({ 'Cache-Control': 'private, no-cache', ETag: tag });
  if (held.includes('*') || held.includes(tag.replace(/^W\//, ''))) {
    res.status(304).end();
    return;
  }
  res.type('json').send(text);
}

/**
 * Whether a key is live shows only when it is used. A faulty request does not get that far, so that the key is asked
 * about here: a revoked one must be told so whatever it is sent with.
 */
async function requireLiveKey(caller: Caller | null, { supabase }: Context, deadline: Deadline) {
  if (caller?.via === 'api_key') await supabase.callFunction(caller, 'get_customer', deadline);
}

function toHandler(endpoint: Endpoint, context: Context): RequestHandler {
  async function answer(req: Request, res: Response, caller: Caller | null, deadline: Deadline) {
    const input = await parseRequest(req, res, endpoint, context, deadline).catch(async (error: unknown) => {
      await requireLiveKey(caller, context, deadline);
      throw error;
    });
    return endpoint.handle({ ...input, context, caller, ip: req.ip, deadline });
  }

  return async (req, res) => {
    const deadline = new Deadline(res.locals.requestId);
    res.locals.operation = endpoint.operation;
    const caller = await admit(req, res, endpoint, context);
    res.locals.caller = caller;
    const payload = await answer(req, res, caller, deadline).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthorized')
        context.rateLimits.noteKey(caller, false);
      throw error;
    });
    context.rateLimits.noteKey(caller, true);
    if (endpoint.cache === 'revalidate') sendRevalidatable(req, res, payload);
    else
      res
        .status(endpoint.status ?? 200)
        .set('Cache-Control', 'no-store')
        .json(payload);
    context.noteLastSeen(caller);
  };
}

/** The router of these endpoints. A known path answers OPTIONS, and 405 to methods it does not have (RFC 9110). */
export function routerOf(endpoints: readonly Endpoint[], context: Context): Router {
  const router = Router({ caseSensitive: true });
  const methodsOf = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    router[endpoint.method](path, toHandler(endpoint, context));
    const methods = endpoint.method === 'get' ? ['GET', 'HEAD'] : [endpoint.method.toUpperCase()];
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...methods]);
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods, 'OPTIONS'].join(', ');
    router.options(path, context.rateLimits.general, (_req, res) => {
      res.set('Allow', allow).status(204).end();
    });
    router.all(path, () => {
      throw new ApiError('invalid_request', `This address takes ${allow}.`, {
        status: 405,
        headers: { Allow: allow },
      });
    });
  }
  return router;
}
