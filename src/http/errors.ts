import type { ErrorRequestHandler } from 'express';
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

const bodyProblems: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'entity.too.large': 'The body is too large.',
  'encoding.unsupported': 'The content encoding of the body is not supported.',
  'charset.unsupported': 'The character set of the body is not supported. Send UTF-8.',
};

/**
 * Express and its body parser fail with errors of their own that carry a 4xx `status` and a `type`; what nobody decided
 * on is server_error.
 */
function fromExpress(error: unknown): ApiError {
  const { status, type } = (error ?? {}) as { status?: number; type?: string };
  if (error instanceof URIError) return notFound('path');
  if (status !== undefined && status >= 400 && status < 500) {
    return new ApiError('invalid_request', bodyProblems[type ?? ''] ?? 'The body could not be read.', {
      cause: error,
    });
  }
  return serverError(error);
}

/** The body of every error response. */
export function envelope({ code, message }: { code: ErrorCode; message: string }) {
  return { error: { code, message } };
}

/** The one place that answers with an error. The cause of a 5xx goes to the request log. */
export const sendError: ErrorRequestHandler = (thrown, _req, res, next) => {
  const error = thrown instanceof ApiError ? thrown : fromExpress(thrown);
  if (error.status >= 500) res.err = error.cause instanceof Error ? error.cause : error;
  if (res.headersSent) {
    next(thrown); // Express cuts the connection: an answer already begun cannot be turned into an error
    return;
  }
  // Of the answer that was meant to be sent.
  for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) res.removeHeader(name);
  res
    .type('json')
    .set({ ...error.headers, 'Cache-Control': 'no-store' })
    .status(error.status)
    .json(envelope(error));
};
