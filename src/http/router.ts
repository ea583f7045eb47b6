import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type IRoute, type RequestHandler, type Response, Router } from 'express';
import type { Context } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import type { AttemptLimits } from '../limits/attempt-limit.ts';
import { createCoalescer } from '../limits/coalesce.ts';
import { requestContext } from '../request-context.ts';
import { clientAddress } from './client-address.ts';
import { requireAuth } from './identify.ts';
import { SharedAnswer } from './shared-answer.ts';
import { validate } from './validate.ts';

type Coalescer = ReturnType<typeof createCoalescer>;

/** Deadlines start here, behind the body parser: the client sets the pace of its body. */
const startRequestContext: RequestHandler = (req, res, next) => {
  const { trace } = res.locals;
  const onceClosed = (listener: () => void) => void res.once('close', listener);
  requestContext.run({ id: String(req.id), trace, startedAt: performance.now(), onceClosed }, next);
};

/** Notes the name of the endpoint for logs and metrics. */
const named =
  (operation: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.operation = operation;
    next();
  };

/** A client that takes less than 64 KB/s is cut after 6 to 12 s, because others wait for the stream. */
const paceWindowMs = 6_000;
const minBytesInWindow = 6 * 64 * 1024;

/** Sends the JSON of `data` as it comes. */
async function sendData(json: Readable, res: Response) {
  let takenBytes = minBytesInWindow; // the first window is free
  const pace = setInterval(() => {
    if (takenBytes < minBytesInWindow) res.destroy();
    takenBytes = 0;
  }, paceWindowMs);
  const envelope = new Transform({
    transform(chunk, _encoding, done) {
      takenBytes += chunk.length;
      done(null, chunk);
    },
    flush: (done) => done(null, '}'),
  });
  envelope.push('{"data":');
  json.once('error', (error) => {
    res.err = error; // for the log: the status is sent
  });
  await pipeline(json, envelope, res).catch(() => res.destroy());
  clearInterval(pace);
}

/** Runs the handler of an endpoint and sends what it returns. */
function answer(
  endpoint: Endpoint,
  context: Context,
  attempt: AttemptLimits,
  coalesce: Coalescer,
): RequestHandler {
  return async (req, res) => {
    const { caller, input } = res.locals;
    const call = { ...input, caller, context, ip: clientAddress(req), log: req.log };
    const handle = () =>
      attempt(endpoint.limits ?? [], req, res, (refund) => endpoint.handle({ ...call, refund }));
    if (endpoint.cache === 'no-store') {
      const payload = await handle();
      if (endpoint.download !== undefined) res.attachment(endpoint.download);
      res
        .set('Cache-Control', 'no-store')
        .status(endpoint.status ?? 200)
        .type('json');
      if (payload instanceof Readable) return await sendData(payload, res);
      const text = JSON.stringify(payload);
      res.set('Content-Length', String(Buffer.byteLength(text))).end(text); // not by json(), which would add an ETag
    } else {
      res.set('Cache-Control', 'private, no-cache');
      // Many HTTP clients add no-cache to If-None-Match, and Express would then never answer 304.
      delete req.headers['cache-control'];
      // For an API key every read is its own: whether the key is live is asked in the read itself.
      if (endpoint.shared && caller?.via !== 'api_key') {
        const what = [endpoint.operation, input];
        const shared = await coalesce.waiting(what, async () => new SharedAnswer(await handle()));
        shared.send(req, res);
      } else {
        res.vary('Accept-Encoding').json(await handle());
      }
    }
    if (endpoint.guard !== 'user') context.recordLastSeen(caller); // those end sessions and accounts
  };
}

/** Makes a route answer OPTIONS, and 405 to methods that it does not have (RFC 9110). */
export function rejectOtherMethods(route: IRoute, methods: readonly string[]) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  route.options((_req, res) => {
    res.set('Allow', allow).status(204).end();
  });
  route.all(() => {
    throw new ApiError('invalid_request', `This path supports ${allow}.`, {
      status: 405,
      headers: { Allow: allow },
    });
  });
}

/** The routes of endpoints, each made from its declaration: what stands in a route is the way of its requests. */
export function endpointRouter(
  endpoints: readonly Endpoint[],
  context: Context,
  attempt: AttemptLimits,
): Router {
  const router = Router({ caseSensitive: true });
  const coalesce = createCoalescer(() => context.metrics?.readJoined());
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  // In order, since a brace sorts behind letters: a fixed path comes before a parameter in the same place.
  for (const [path, ofPath] of [...byPath].sort()) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of ofPath)
      route[endpoint.method](
        named(endpoint.operation),
        requireAuth(endpoint.guard),
        ...(endpoint.body ? [express.json({ limit: endpoint.maxBody ?? '16kb' })] : []),
        startRequestContext,
        validate(endpoint),
        answer(endpoint, context, attempt, coalesce),
      );
    const methods = ofPath.map(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    rejectOtherMethods(route, methods.flat());
  }
  return router;
}
