import etag from 'etag';
import { json, type Request, type RequestHandler, type Response, Router } from 'express';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { bearerToken, type Caller } from './caller.ts';
import type { Context } from './context.ts';
import { ApiError, type ErrorCode, notFound, unauthorized } from './errors.ts';
import { parse } from './parse.ts';
import { countAgainst } from './rate-limit.ts';
import { Deadline } from './upstream.ts';

/** Who may call: anyone (a token is ignored), anyone with or without a valid token, or only with one. */
export type Guard = 'none' | 'optional' | 'bearer';

/** What a handler gets. `params`, `query` and `body` are validated. */
export type Call<P, Q, B, G extends Guard> = {
  context: Context;
  caller: G extends 'bearer' ? Caller : G extends 'optional' ? Caller | null : null;
  params: P;
  query: Q;
  body: B;
  ip: string | undefined;
  deadline: Deadline;
  log: Logger;
};

type Declaration<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  G extends Guard,
> = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As the contract writes it, with {name} for a parameter. */
  path: `/${string}`;
  /** A stable name: operationId of the document, label of logs and metrics. */
  operation: string;
  summary: string;
  guard: G;
  params?: P;
  query?: Q;
  body?: B;
  /** Of success; 200 unless said. */
  status?: 201;
  response: R;
  errors: readonly ErrorCode[];
  /** no-store for what must not be kept; revalidate lets clients keep a copy that they check by its ETag. */
  cache: 'no-store' | 'revalidate';
  handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>, G>) => Promise<z.input<R>>;
};

export type Endpoint = Declaration<z.ZodType, z.ZodType, z.ZodType, z.ZodType, Guard>;

/** Declares an endpoint: routes, document and contract tests are all made from this one value. */
export function endpoint<
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
  R extends z.ZodType = z.ZodType,
  G extends Guard = Guard,
>(declaration: Declaration<P, Q, B, R, G>): Endpoint {
  return declaration as unknown as Endpoint;
}

const readJson = json({ limit: '16kb' });

/** The caller proved by the request, or the error that a faulty credential must end in. */
async function identify(
  endpoint: Endpoint,
  context: Context,
  req: Request,
): Promise<Caller | null | ApiError> {
  if (endpoint.guard === 'none') return null;
  try {
    const token = bearerToken(req);
    if (token !== null) return await context.verify(token);
    return endpoint.guard === 'bearer'
      ? unauthorized('Send an access token: Authorization: Bearer <token>.')
      : null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Express alone ignores If-None-Match when the request says Cache-Control: no-cache, as many HTTP clients do. */
function sendRevalidatable(req: Request, res: Response, payload: unknown) {
  const text = JSON.stringify(payload);
  const tag = etag(text, { weak: true });
  const held = req.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  res.set({ 'Cache-Control': 'private, no-cache', ETag: tag });
  if (held.includes('*') || held.includes(tag.replace(/^W\//, ''))) {
    res.status(304).end();
    return;
  }
  res.type('json').send(text);
}

function toHandler(endpoint: Endpoint, context: Context): RequestHandler {
  const runMiddleware = (middleware: RequestHandler, req: Request, res: Response) =>
    new Promise<void>((resolve, reject) => {
      middleware(req, res, (error: unknown) => (error ? reject(error) : resolve()));
    });

  return async (req, res) => {
    res.locals['operation'] = endpoint.operation;
    const caller = await identify(endpoint, context, req);
    if (caller !== null && !(caller instanceof ApiError)) countAgainst(req, caller);
    await runMiddleware(context.rateLimit, req, res);
    if (caller instanceof ApiError) throw caller;

    const params = endpoint.params?.safeParse(req.params);
    if (params?.success === false) throw notFound('address');
    const query = endpoint.query && parse(endpoint.query, req.query);
    if (endpoint.body) await runMiddleware(readJson, req, res);
    const body = endpoint.body && parse(endpoint.body, req.body);

    const payload = await endpoint.handle({
      context,
      caller,
      params: params?.data,
      query,
      body,
      ip: req.ip,
      deadline: new Deadline(),
      log: req.log,
    });
    if (endpoint.cache === 'revalidate') {
      sendRevalidatable(req, res, payload);
    } else {
      res
        .status(endpoint.status ?? 200)
        .set('Cache-Control', 'no-store')
        .json(payload);
    }
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
    router.options(path, context.rateLimit, (_req, res) => {
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
