import { json, type Request, type RequestHandler, type Response, Router } from 'express';
import { hashOfApiKey, isApiKey, isWellFormedApiKey } from './api-key.ts';
import { Body, sendBody, sendCopy } from './body.ts';
import { bearerToken, type Caller, tokenRefused } from './caller.ts';
import { createCollapser } from './collapse.ts';
import type { Context } from './context.ts';
import type { Endpoint, Guard } from './endpoint.ts';
import { ApiError, notFound, unauthorized } from './errors.ts';
import { textOf } from './json.ts';
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
    res.locals.caller = caller;
    await context.rateLimits.general(req, res);
    return caller;
  } catch (error) {
    if (!res.hasHeader('X-RateLimit-Limit')) await context.rateLimits.general(req, res);
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
  if (endpoint.extraLimit) await context.rateLimits.extra[endpoint.extraLimit](req, res);
  return { params: params?.data ?? {}, query: query ?? {}, body };
}

/**
 * Whether a key is live shows only when it is used. A faulty request does not get that far, so that the key is asked
 * about here: a revoked one must be told so whatever it is sent with.
 */
async function requireLiveKey(caller: Caller | null, { supabase }: Context, deadline: Deadline) {
  if (caller?.via === 'api_key') await supabase.callFunction(caller, 'get_customer', deadline);
}

type Collapse = ReturnType<typeof createCollapser<Body>>;

function toHandler(endpoint: Endpoint, context: Context, collapse: Collapse): RequestHandler {
  /** Sends the answer of the endpoint. @throws what its handler throws, before anything was sent */
  async function answer(req: Request, res: Response, caller: Caller | null, deadline: Deadline) {
    const input = await parseRequest(req, res, endpoint, context, deadline).catch(async (error: unknown) => {
      await requireLiveKey(caller, context, deadline);
      throw error;
    });
    const read = async () => {
      const payload = await endpoint.handle({ ...input, context, caller, deadline, req });
      return new Body(textOf(payload));
    };
    if (endpoint.cache === 'no-store') {
      const body = await read();
      res.status(endpoint.status ?? 200).setHeader('Cache-Control', 'no-store');
      await sendBody(req, res, body);
      return;
    }
    // Whether a key is live is asked anew with every request, in the read itself.
    const shared = endpoint.shared && caller?.via !== 'api_key';
    const key = `${endpoint.operation} ${JSON.stringify(input.query)}`;
    await sendCopy(req, res, shared ? await collapse(key, read) : await read());
  }

  return async (req, res) => {
    const deadline = new Deadline(res.locals.requestId);
    res.locals.operation = endpoint.operation;
    const caller = await admit(req, res, endpoint, context);
    await answer(req, res, caller, deadline).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'unauthorized')
        context.rateLimits.noteKey(caller, false);
      throw error;
    });
    context.rateLimits.noteKey(caller, true);
    context.noteLastSeen(caller);
  };
}

/** Makes a path answer OPTIONS, and 405 to methods it does not have (RFC 9110). */
export function refuseOtherMethods(
  router: Router,
  path: string,
  methods: readonly string[],
  { rateLimits }: Context,
) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  router.options(path, async (req, res) => {
    await rateLimits.general(req, res);
    res.set('Allow', allow).status(204).end();
  });
  router.all(path, () => {
    throw new ApiError('invalid_request', `This address takes ${allow}.`, {
      status: 405,
      headers: { Allow: allow },
    });
  });
}

/** The router of these endpoints. */
export function routerOf(endpoints: readonly Endpoint[], context: Context): Router {
  const router = Router({ caseSensitive: true });
  const collapse = createCollapser<Body>(() => context.metrics?.readJoined());
  const methodsOf = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    router[endpoint.method](path, toHandler(endpoint, context, collapse));
    const methods = endpoint.method === 'get' ? ['GET', 'HEAD'] : [endpoint.method.toUpperCase()];
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...methods]);
  }
  for (const [path, methods] of methodsOf) refuseOtherMethods(router, path, methods, context);
  return router;
}
