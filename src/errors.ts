import { type ErrorCode, type ErrorReason, statusOfCode, usualReason } from './error-reasons.ts';

export { type ErrorCode, statusOfCode };

type ApiErrorOptions = {
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
  /** One of the code's own; the usual one of the code unless said. */
  reason?: ErrorReason | undefined;
  /** The wrong field: one that a body, query or list of headers of the document has. */
  field?: string | undefined;
  /** Only where RFC 9110 asks for a status that the code's own does not express. */
  status?: number;
};

/** An error that was decided on: its code and message are sent to the client as they are. */
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

/**
 * The 401 of a bearer token.
 * @param tokenCame adds error="invalid_token" (RFC 6750 section 3.1), which a request without a token must not get.
 */
export function unauthorized(
  message: string,
  { tokenCame = false, ...options }: { tokenCame?: boolean; cause?: unknown; reason?: ErrorReason } = {},
) {
  const challenge = `Bearer realm="sounds"${tokenCame ? ', error="invalid_token"' : ''}`;
  return new ApiError('unauthorized', message, { ...options, headers: { 'WWW-Authenticate': challenge } });
}

/** The 404 of a thing that does not exist or is hidden from the caller: the two must not be told apart. */
export function notFound(noun: string) {
  return new ApiError('not_found', `There is no such ${noun}.`);
}

/** A failure behind the gateway: the answer says nothing about it, the log gets the cause. */
export function serverError(cause: unknown) {
  return new ApiError('server_error', 'The service could not answer. Try again, with increasing delays.', {
    cause,
  });
}

/** The body of every error response. */
export function envelope({ code, message }: { code: ErrorCode; message: string }) {
  return { error: { code, message } };
}

/** Returns the 429 of every limit. @param waitMs time until a request may succeed, at least a second for the client */
export const tooManyRequests = (waitMs: number, reason: ErrorReason) =>
  new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
