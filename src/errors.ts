import type { ErrorReason, Missing } from './error-reasons.ts';

export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/** Default reason of each code. server_error has none, and each not_found its own. */
const usualReason: { [Code in ErrorCode]?: ErrorReason } = {
  invalid_request: 'validation',
  unauthorized: 'token_invalid',
  rate_limited: 'limit_requests',
};

interface ApiErrorOptions {
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
  /** One of the reasons of the code. Default: usualReason[code]. */
  reason?: ErrorReason | undefined;
  /** Name of the limit that caused a 429. Logged, never sent. */
  limit?: string;
  /** Name of the wrong field of the body, query parameter or header. */
  field?: string | undefined;
  /** Status that replaces the status of the code, where RFC 9110 requires it. */
  status?: number;
}

/** Error whose code and message are sent to the client. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly reason: ErrorReason | undefined;
  readonly limit: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, headers, reason = usualReason[code], field, status, limit }: ApiErrorOptions = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status ?? statusOfCode[code];
    this.reason = reason;
    this.limit = limit;
    this.headers = {
      ...headers,
      ...(reason !== undefined && { 'X-Error-Reason': reason }),
      ...(field !== undefined && { 'X-Error-Field': field }),
    };
  }
}

/** Returns the 401 for a request without a token, or for a failed sign-in. */
export const unauthorized = (message: string, reason?: ErrorReason) =>
  new ApiError('unauthorized', message, { reason, headers: { 'WWW-Authenticate': 'Bearer realm="sounds"' } });

/** Returns the 401 for a rejected token (RFC 6750 section 3.1). */
export function tokenRejected(message: string, options: { cause?: unknown; reason?: ErrorReason } = {}) {
  const headers = { 'WWW-Authenticate': 'Bearer realm="sounds", error="invalid_token"' };
  return new ApiError('unauthorized', message, { ...options, headers });
}

/**
 * Returns the error for an API key whose scope does not include the request. The error code is that of RFC 6750 section
 * 3.1, but the status is 401 instead of 403, because the contract of the service has no 403.
 */
export function beyondScope(scope: string, needed: string, cause: unknown) {
  const headers = { 'WWW-Authenticate': 'Bearer realm="sounds", error="insufficient_scope"' };
  const message = `This API key has the scope "${scope}". The request takes a key with the scope "${needed}".`;
  return new ApiError('unauthorized', message, { cause, headers, reason: 'key_scope' });
}

/** Returns the 404 for a resource that does not exist or that the caller must not see. */
export const notFound = (noun: Missing) =>
  new ApiError('not_found', `There is no such ${noun}.`, { reason: `no_such_${noun}` });

/** Returns the 404 for a path whose id cannot name a resource, such as /sounds/1. */
export const notAnId = (noun: Missing) =>
  new ApiError('not_found', 'There is no such path.', { reason: `no_such_${noun}` });

/** Returns the 500 for a failure behind the gateway. The cause is logged, never sent. */
export const serverError = (cause: unknown) =>
  new ApiError('server_error', 'The service could not answer. Try again, with increasing delays.', { cause });

export const envelope = ({ code, message }: { code: ErrorCode; message: string }) => ({ error: { code, message } });

/** Returns the 429 of a limit of the gateway. @param waitMs time until a request may succeed, rounded up to seconds */
export const tooManyRequests = (waitMs: number, reason: ErrorReason, limit: string) =>
  new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    limit,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
