import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import type { Context } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { createSharedAnswer } from './shared-answer.ts';
import type { createSharedReads } from './shared-reads.ts';

type SharedReads = ReturnType<typeof createSharedReads>;

/** Disconnects a client that reads less than 64 KB/s for 6 to 12 s, because it occupies an export slot. */
const paceWindowMs = 6_000;
const minBytesInWindow = 6 * 64 * 1024;

/** Streams the JSON of `data`. */
async function sendData(json: Readable, res: Response) {
  let takenBytes = minBytesInWindow; // so that the first window never disconnects
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

/** Returns a signal that aborts when the response closes: the client has disconnected, or has the whole response. */
function goneSignal(res: Response): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort();
  else res.once('close', () => controller.abort());
  return controller.signal;
}

/** Calls the handler of an endpoint with the facts about a request. */
function handle(endpoint: Endpoint, context: Context, req: Request, res: Response) {
  const { caller, clientAddress, input, refusal } = res.locals;
  return endpoint.handle({
    ...input,
    caller,
    context,
    log: req.log,
    ip: clientAddress,
    refusal,
    // A getter, because this takes time and few endpoints use it.
    get gone() {
      return goneSignal(res);
    },
  });
}

/**
 * Resolves to the result of an attempt beyond a limit, if it succeeds in time. Otherwise throws the 429 of the limit
 * when it is due, because another error or time would reveal that the account trusts the client.
 */
function resultOrRefusal<T>(result: Promise<T>, { refusal, refusalDue }: Response['locals']): Promise<T> {
  const refused = Promise.resolve(refusalDue).then(() => Promise.reject(refusal));
  return Promise.race([result.catch(() => refused), refused]);
}

/** Sends a response that clients must not keep. */
async function sendUncached(endpoint: Endpoint, context: Context, req: Request, res: Response) {
  const { refusal } = res.locals;
  const result = handle(endpoint, context, req, res);
  const payload = await (refusal === undefined ? result : resultOrRefusal(result, res.locals));
  if (endpoint.limits) res.locals.payload = payload as { data?: object };
  if (endpoint.download !== undefined) res.attachment(endpoint.download);
  res
    .set('Cache-Control', 'no-store')
    .status(endpoint.status ?? 200)
    .type('json');
  if (payload instanceof Readable) return sendData(payload, res);
  const text = JSON.stringify(payload);
  res.set('Content-Length', String(Buffer.byteLength(text))).end(text); // res.json() would add an ETag
}

/** Sends a response that clients may keep and revalidate by its ETag. */
async function sendCacheable(
  endpoint: Endpoint,
  context: Context,
  sharedReads: SharedReads,
  req: Request,
  res: Response,
) {
  const { caller, input } = res.locals;
  res.set('Cache-Control', 'private, no-cache');
  // Many HTTP clients add no-cache to If-None-Match, and Express would then never answer 304.
  delete req.headers['cache-control'];
  // A read with an API key is never shared, because the read itself verifies the key.
  if (endpoint.cache === 'shared' && caller?.via !== 'api_key') {
    const shared = await sharedReads([endpoint.operation, input], async () => {
      const payload = await handle(endpoint, context, req, res);
      return createSharedAnswer(Array.isArray(payload) ? Buffer.concat(payload) : payload);
    });
    shared.send(req, res);
    return;
  }
  const payload = await handle(endpoint, context, req, res);
  res.vary('Accept-Encoding');
  // Joins the parts, because compressing each part alone takes twice as long and makes the response larger.
  if (Array.isArray(payload)) res.type('json').send(Buffer.concat(payload));
  else res.json(payload);
}

/** Returns the middleware that runs the handler of an endpoint and sends its response. */
export function answer(endpoint: Endpoint, context: Context, sharedReads: SharedReads): RequestHandler {
  return async (req, res) => {
    const { caller } = res.locals;
    if (endpoint.cache === undefined) await sendUncached(endpoint, context, req, res);
    else await sendCacheable(endpoint, context, sharedReads, req, res);
    res.emit('result'); // the limits of attempts wait for it
    if (endpoint.guard !== 'user') context.recordLastSeen(caller); // endpoints with this guard may delete the account
  };
}

/** Answers HEAD of a download without making it, because an export costs the database much. */
export function answerHead({ download = '' }: Endpoint): RequestHandler {
  return (req, res, next) => {
    if (req.method !== 'HEAD') return next();
    res.attachment(download).set('Cache-Control', 'no-store').type('json').end();
  };
}
