import type { ErrorRequestHandler } from 'express';
import { ApiError, envelope, notFound, serverError } from '../errors.ts';

const bodyProblems: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'entity.too.large': 'The body is too large.',
  'entity.verify.failed': 'The body is not valid UTF-8.',
  'encoding.unsupported': 'The content encoding of the body is not supported.',
  'charset.unsupported': 'The character set of the body is not supported. Send UTF-8.',
};

/** Maps errors of Express and its body parser, which have a 4xx `status` and a `type`. Others become server_error. */
function fromExpress(error: unknown): ApiError {
  const { status, type } = (error ?? {}) as { status?: number; type?: string };
  if (error instanceof URIError) return notFound('path');
  if (status !== undefined && status >= 400 && status < 500) {
    const message = bodyProblems[type ?? ''] ?? 'The body could not be read.';
    const reason = type === 'entity.too.large' ? 'too_large' : 'validation';
    return new ApiError('invalid_request', message, { cause: error, reason });
  }
  return serverError(error);
}

/** Sends every error response. The cause of a 5xx goes to the request log. */
export const sendError: ErrorRequestHandler = (thrown, _req, res, next) => {
  const error = thrown instanceof ApiError ? thrown : fromExpress(thrown);
  if (error.status >= 500) res.err = error.cause instanceof Error ? error.cause : error;
  res.locals.error = error;
  if (res.headersSent) {
    next(thrown); // Express then cuts the connection of a response that has begun
    return;
  }
  res
    .type('json')
    .set({ ...error.headers, 'Cache-Control': 'no-store' })
    .status(error.status)
    .json(envelope(error));
  res.emit('result'); // the limits of attempts wait for it
};
