import { type ErrorCode, type ErrorReason, statusOfCode, usualReason } from './error-reasons.ts';

export { type ErrorCode, statusOfCode };

type ApiErrorOptions = {
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
  /** One of the reasons of the code. Default: usualReason. */
  reason?: ErrorReason | undefined;
  /** Wrong field of a body, query or list of headers in the document. */
  field?: string | undefined;
  /** Status that RFC 9110 requires in place of the code's own. */
  status?: number;
};

/** Error whose code and message are sent to the client. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, headers, reason = usualReason[code], field, status }: ApiErrorOptions = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status ?? statusOfCode[code];
    this.headers = {
      ...headers,
      ...(reason !== undefined && { 'X-Error-Reason': reason }),
      ...(field !== undefined && { 'X-Error-Field': field }),
    };
  }
}

/** Returns the 401 of a request that sent no token, or failed to get one. */
export const unauthorized = (message: string, reason?: ErrorReason) =>
  new ApiError('unauthorized', message, { reason, headers: { 'WWW-Authenticate': 'Bearer realm="sounds"' } });

/** Returns the 401 of a token that was sent and is rejected (RFC 6750 section 3.1). */
export function tokenRejected(message: string, options: { cause?: unknown; reason?: ErrorReason } = {}) {
  const headers = { 'WWW-Authenticate': 'Bearer realm="sounds", error="invalid_token"' };
  return new ApiError('unauthorized', message, { ...options, headers });
}

/** Returns the 404 of a resource that does not exist or is hidden from the caller; both look the same. */
export function notFound(noun: string) {
  return new ApiError('not_found', `There is no such ${noun}.`);
}

/** Returns the 500 of a failure behind the gateway. Only the log gets the cause. */
export function serverError(cause: unknown) {
  return new ApiError('server_error', 'The service could not answer. Try again, with increasing delays.', {
    cause,
  });
}

/** Returns the body of an error response. */
export function envelope({ code, message }: { code: ErrorCode; message: string }) {
  return { error: { code, message } };
}

/** Returns the 429 of every limit. @param waitMs time until a request may succeed, at least a second for the client */
export const tooManyRequests = (waitMs: number, reason: ErrorReason) =>
  new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
