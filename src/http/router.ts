import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, {
  type ErrorRequestHandler,
  type IRoute,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Context } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import { requestContext } from '../request-context.ts';
import { clientAddress } from './client-address.ts';
import { createCollapser } from './collapse.ts';
import type { ExtraLimit, Outcome } from './extra-limits.ts';
import { requireAuth } from './identify.ts';
import type { RateLimits } from './rate-limit.ts';
import { SharedAnswer } from './shared-answer.ts';
import { validate } from './validate.ts';

type Collapse = ReturnType<typeof createCollapser<SharedAnswer>>;

const isUnauthorized = (error: unknown) => error instanceof ApiError && error.code === 'unauthorized';

/** What limits of failures count: neither a failure behind the gateway nor another limit. */
const isRejected = (error: unknown) =>
  isUnauthorized(error) || (error instanceof ApiError && error.code === 'invalid_request');

/** Deadlines start here, behind the body parser: the client sets the pace of its body. */
const startRequestContext: RequestHandler = (req, res, next) => {
  const { trace } = res.locals;
  requestContext.run({ id: String(req.id), trace, startedAt: performance.now() }, next);
};

/** Notes the name of the endpoint for logs and metrics. */
const named =
  (operation: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.operation = operation;
    next();
  };

/**
 * Whether an API key is live shows when it is used. A faulty request does not get that far: a revoked key must be told
 * so whatever it is sent with.
 */
function checkKeyOfFaultyRequest({ data }: Context, { refusedKeys }: RateLimits): ErrorRequestHandler {
  return async (error, req, res, next) => {
    const { caller } = res.locals;
    if (caller?.via !== 'api_key') return next(error);
    const refusal = isUnauthorized(error)
      ? error
      : await data.find(caller, 'get_customer').then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
    refusedKeys.judge(req, res, refusal);
    next(refusal ?? error);
  };
}

/** Sends the JSON of `data` as it comes, at the pace of the client, who may go away. */
async function sendData(json: Readable, res: Response) {
  const envelope = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => done(null, '}'),
  });
  envelope.push('{"data":');
  json.once('error', (error) => {
    res.err = error; // for the log: the status is sent
  });
  await pipeline(json, envelope, res).catch(() => res.destroy());
}

/** Runs the handler of an endpoint and sends what it returns. */
function answer(
  endpoint: Endpoint,
  context: Context,
  limits: RateLimits,
  collapse: Collapse,
): RequestHandler {
  return async (req, res) => {
    const { caller, input } = res.locals;
    const forgiven = new Set<ExtraLimit>();
    const forgive = (name: ExtraLimit) => void forgiven.add(name);
    const call = { ...input, caller, context, ip: clientAddress(req), log: req.log, forgive };
    const handle = async () => {
      const end = await limits.begin(endpoint.extraLimits ?? [], req, res);
      let outcome: Outcome = 'failed';
      try {
        const payload = await endpoint.handle(call);
        outcome = 'done';
        limits.refusedKeys.judge(req, res);
        return payload;
      } catch (error) {
        if (isRejected(error)) outcome = 'refused';
        limits.refusedKeys.judge(req, res, error);
        throw error;
      } finally {
        end(outcome, forgiven);
      }
    };
    if (endpoint.cache === 'no-store') {
      delete req.headers['if-none-match']; // what must not be kept is not revalidated
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
        const key = JSON.stringify([endpoint.operation, input]);
        const shared = await collapse(key, async () => new SharedAnswer(await handle()));
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
export function endpointRouter(endpoints: readonly Endpoint[], context: Context, limits: RateLimits): Router {
  const router = Router({ caseSensitive: true });
  const collapse = createCollapser<SharedAnswer>(() => context.metrics?.readJoined());
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
        checkKeyOfFaultyRequest(context, limits),
        answer(endpoint, context, limits, collapse),
      );
    const methods = ofPath.map(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    rejectOtherMethods(route, methods.flat());
  }
  return router;
}
