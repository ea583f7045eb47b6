import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, {
  type ErrorRequestHandler,
  type IRoute,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Context } from '../context.ts';
import type { Endpoint, Json } from '../endpoint.ts';
import { ApiError } from '../errors.ts';
import type { Limiters } from '../limits/limiters.ts';
import { requestContext } from '../shared/request-context.ts';
import { requireAuth } from './identify.ts';
import { SharedAnswer, weakETag } from './shared-answer.ts';
import { createSharedReads } from './shared-reads.ts';
import { validate } from './validate.ts';

type SharedReads = ReturnType<typeof createSharedReads>;

/** Starts the deadlines. Runs after the body parser, because a client may send its body slowly. */
const startRequestContext: RequestHandler = (req, res, next) => {
  const { trace } = res.locals;
  const userAgent = req.headers['user-agent'];
  requestContext.run({ id: String(req.id), trace, userAgent, startedAt: performance.now() }, next);
};

const named =
  (operation: string): RequestHandler =>
  (_req, res, next) => {
    res.locals.operation = operation;
    next();
  };

const utf8 = '(x-unicode20|unicode11|unicode20|unicode-1-1-)?utf-?8'; // https://encoding.spec.whatwg.org
const charset = new RegExp(`(?<=charset=)"?${utf8}"?`, 'i');
const wrongCoding = new RegExp(`^\\s*(${utf8})?\\s*$`, 'i');

/** Replaces spellings of charset and coding that the body parser rejects. Ignores a charset that was sent as coding. */
const normalizeEncoding: RequestHandler = ({ headers }, _res, next) => {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (type) headers['content-type'] = type.replace(charset, 'utf-8');
  if (coding !== undefined && wrongCoding.test(coding)) delete headers['content-encoding'];
  else if (coding?.trim().toLowerCase() === 'x-gzip') headers['content-encoding'] = 'gzip'; // RFC 9110, 8.4.1.3
  next();
};

/** Rejects text that is not UTF-8, because decoding would replace its bytes, so that different passwords become equal. */
function rejectOtherThanUtf8(_req: IncomingMessage, _res: ServerResponse, bytes: Buffer, charset: string) {
  if (charset === 'utf-8' && !isUtf8(bytes)) throw new Error('The body is not valid UTF-8');
}

const parseJson = (limit = '16kb') =>
  express.json({ limit, type: ['application/json', 'application/*+json'], verify: rejectOtherThanUtf8 });

/** Disconnects a client that reads less than 64 KB/s for 6 to 12 s, because it occupies an export slot. */
const paceWindowMs = 6_000;
const minBytesInWindow = 6 * 64 * 1024;

/** Sends JSON in parts, or 304 if the client already has it. */
function sendJson(json: Json, req: Request, res: Response) {
  res.set('ETag', weakETag(...json));
  if (req.fresh) return res.status(304).end();
  res.type('json');
  for (const part of json) res.write(part);
  return res.end();
}

/** Streams the JSON of `data`. */
async function sendData(json: Readable, res: Response) {
  let takenBytes = minBytesInWindow; // the first window never disconnects
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
    res.err = error; // only logged, because the status has already been sent
  });
  await pipeline(json, envelope, res).catch(() => res.destroy());
  clearInterval(pace);
}

/** Returns a signal that aborts when the client disconnects before it has the response. */
function goneSignal(res: Response): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else res.once('close', () => controller.abort());
  return controller.signal;
}

function answer(endpoint: Endpoint, context: Context, sharedReads: SharedReads): RequestHandler {
  return async (req, res) => {
    const { caller, clientAddress, input } = res.locals;
    const handle = () =>
      endpoint.handle({
        ...input,
        caller,
        context,
        log: req.log,
        ip: clientAddress,
        // A getter, because this takes time and few endpoints use it.
        get gone() {
          return goneSignal(res);
        },
      });
    if (endpoint.cache === undefined) {
      const payload = await handle();
      if (endpoint.limits) res.locals.payload = payload as { data?: object };
      if (endpoint.download !== undefined) res.attachment(endpoint.download);
      res
        .set('Cache-Control', 'no-store')
        .status(endpoint.status ?? 200)
        .type('json');
      if (payload instanceof Readable) await sendData(payload, res);
      else {
        const text = JSON.stringify(payload);
        res.set('Content-Length', String(Buffer.byteLength(text))).end(text); // res.json() would add an ETag
      }
    } else {
      res.set('Cache-Control', 'private, no-cache');
      // Many HTTP clients add no-cache to If-None-Match, and Express would then never answer 304.
      delete req.headers['cache-control'];
      // A read with an API key is never shared, because the read itself verifies the key.
      if (endpoint.cache === 'shared' && caller?.via !== 'api_key') {
        const what = [endpoint.operation, input];
        const shared = await sharedReads(what, async () => {
          const payload = await handle();
          return new SharedAnswer(Array.isArray(payload) ? Buffer.concat(payload) : payload);
        });
        shared.send(req, res);
      } else {
        const payload = await handle();
        res.vary('Accept-Encoding');
        if (Array.isArray(payload)) sendJson(payload, req, res);
        else res.json(payload);
      }
    }
    res.emit('result'); // the limits of attempts wait for it
    if (endpoint.guard !== 'user') context.recordLastSeen(caller); // endpoints with this guard may delete the account
    if (caller?.via === 'api_key') context.activeKeys.set(caller.keyHash, true); // the handler's query has verified it
  };
}

/** Verifies the API key of a malformed request by a query, so that an invalid key gets 401 instead of 400. */
function verifyKeyOfMalformed({ data }: Context): ErrorRequestHandler {
  return async (error, _req, { locals: { caller } }, next) => {
    const isRejected = error instanceof ApiError && error.status === 401;
    if (caller?.via === 'api_key' && !isRejected) await data.find(caller, 'get_customer');
    next(error);
  };
}

/** Makes a route answer OPTIONS, and reject other methods with 405 (RFC 9110). */
export function rejectOtherMethods(route: IRoute, methods: readonly string[]) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  route.options((_req, res) => {
    res.set('Allow', allow).status(204).end();
  });
  route.all(() => {
    const more = { status: 405, headers: { Allow: allow }, reason: 'no_such_method' } as const;
    throw new ApiError('invalid_request', `This path supports ${allow}.`, more);
  });
}

/** Makes the routes from the declarations of endpoints. Middleware of a route runs in the order below. */
export function endpointRouter(endpoints: readonly Endpoint[], context: Context, limiters: Limiters): Router {
  const router = Router({ caseSensitive: true });
  const sharedReads = createSharedReads(() => context.metrics?.joinedReads.inc());
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  // Sorts fixed paths before parameters, because a brace comes after letters.
  for (const [path, ofPath] of [...byPath].sort()) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of ofPath)
      route[endpoint.method](
        named(endpoint.operation),
        requireAuth(endpoint.guard),
        ...(endpoint.body ? [normalizeEncoding, parseJson(endpoint.maxBody)] : []),
        startRequestContext,
        validate(endpoint),
        verifyKeyOfMalformed(context),
        ...(endpoint.limits ?? []).flatMap((name) => limiters[name]),
        answer(endpoint, context, sharedReads),
      );
    const methods = ofPath.map(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()));
    rejectOtherMethods(route, methods.flat());
  }
  return router;
}
