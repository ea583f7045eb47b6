import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { apiBase } from '../endpoint.ts';
import { addressOfReason } from '../error-reasons.ts';
import type { Caller } from '../model/caller.ts';

const wellFormedId = /^[\w.:-]{1,128}$/;

function requestIdOf(req: Request, res: Response): string {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && wellFormedId.test(given) ? given : randomUUID();
  res.setHeader('X-Request-Id', id);
  return id;
}

/** Gives each request an id, and logs it without headers, queries and bodies, because they carry credentials. */
export function requestLog(log: Logger): RequestHandler {
  return pinoHttp<Request, Response>({
    logger: log,
    genReqId: requestIdOf,
    // Skips probes, because they come every second.
    autoLogging: { ignore: ({ url }) => /^\/(healthz|readyz)(\?|$)/.test(url) },
    // Logs the id instead of the whole request. The option quietReqLogger would cost 10 % of the processor time.
    customAttributeKeys: { req: 'requestId' },
    wrapSerializers: false,
    serializers: { requestId: ({ id }: Request) => id },
    customLogLevel: (_req, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessObject: (req, res, { responseTime }) => lineOf(req, res, responseTime),
    customErrorObject: (req, res, err, { responseTime }) => ({ ...lineOf(req, res, responseTime), err }),
    customSuccessMessage: messageOf,
    customErrorMessage: messageOf,
  });
}

/** Returns the status, or null when the client disconnected before it. */
export const statusSeen = (res: Response) => (res.writableFinished ? res.statusCode : null);

const messageOf = (req: Request, res: Response) =>
  `${res.locals.operation ?? `${req.method} ${withoutSecrets(req.originalUrl)}`} ${statusSeen(res) ?? 'aborted'}`;

function lineOf(req: Request, res: Response, durationMs: number) {
  const { operation, caller, clientAddress, trace, error } = res.locals;
  const { requestsLimit } = req;
  return {
    traceId: trace.id,
    operation: operation ?? 'none',
    method: req.method,
    ...(operation === undefined && { path: withoutSecrets(req.originalUrl) }),
    status: statusSeen(res),
    durationMs,
    ...(caller && { caller: nameOf(caller) }),
    ...(isRejected(req, res) && { ip: ipKeyGenerator(clientAddress, 64) }),
    ...(error?.reason !== undefined && { reason: error.reason, help: addressOfReason(error.reason) }),
    ...(error?.limit !== undefined && { limit: error.limit }),
    ...(requestsLimit && { rateLimit: { limit: requestsLimit.limit, remaining: requestsLimit.remaining } }),
  };
}

/** Names an API key by its hash, as private.api_keys does. */
function nameOf(caller: Caller) {
  return { via: caller.via, id: caller.via === 'jwt' ? caller.userId : caller.keyHash };
}

/** Maximum length of a segment that is logged, because longer ones may be tokens. */
const longestName = 40;

/** Keeps the first segment of an unknown path, to help find the mistake. Others may be tokens, codes or names. */
function withoutSecrets(url: string) {
  const [, base = '', first = '', rest] = /^(\/api\/v1(?=\/|$))?(\/[^/]+)?(.*)$/s.exec(url.replace(/\?.*/s, '')) ?? [];
  const mayBeSecret = first.length > '/'.length + longestName || /[\d@%]/.test(first);
  return base + (mayBeSecret ? '/…' : first) + (rest && !mayBeSecret ? '/…' : '') || '/';
}

/** Tells whether to log the address of the client: only for rejections, so that an attack can be blocked. */
function isRejected({ originalUrl }: Request, { statusCode }: Response) {
  return [401, 429].includes(statusCode) || (statusCode === 400 && originalUrl.startsWith(`${apiBase}/auth/`));
}
