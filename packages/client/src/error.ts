import { browser } from './browser.ts';
import type { Schema } from './schema.ts';

/** The codes of the service, and `no_answer`: no network, a broken connection, or the time was over. */
export type ErrorCode = Schema<'ErrorCode'> | 'no_answer';

/** The words of X-Error-Reason; more may be added. */
export type ErrorReason =
  | Schema<'InvalidRequestReason'>
  | Schema<'UnauthorizedReason'>
  | Schema<'RateLimitedReason'>;

interface Details {
  status: number;
  code: ErrorCode;
  reason?: ErrorReason | null;
  field?: string | null;
  requestId?: string | null;
  retryAfter?: number | null;
}

class ServiceError extends Error {
  override readonly name = 'SoundsError';
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly code: ErrorCode;
  /** Why, for a 400, a 401 or a 429. Decide by this, never by the message. */
  readonly reason: ErrorReason | null;
  /** The field that is wrong, where it is one. */
  readonly field: string | null;
  /** To be quoted to those who run the service. */
  readonly requestId: string | null;
  /** Seconds after which to try again, where the service said so. */
  readonly retryAfter: number | null;

  constructor(message: string, details: Details, cause?: unknown) {
    super(message);
    if (cause !== undefined) this.cause = cause;
    this.status = details.status;
    this.code = details.code;
    this.reason = details.reason ?? null;
    this.field = details.field ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfter = details.retryAfter ?? null;
  }
}

type Coded<Code extends ErrorCode, Reason> = ServiceError & {
  readonly code: Code;
  readonly reason: Reason | null;
};

/** What every call is rejected with, except where its own `signal` ended it. `code` tells which reasons there can be. */
export type SoundsError =
  | Coded<'invalid_request', Schema<'InvalidRequestReason'>>
  | Coded<'unauthorized', Schema<'UnauthorizedReason'>>
  | Coded<'rate_limited', Schema<'RateLimitedReason'>>
  | Coded<'not_found', never>
  | Coded<'server_error', never>
  | Coded<'no_answer', never>;

/** The class under that type, for `instanceof`. */
export const SoundsError = ServiceError as unknown as {
  new (message: string, details: Details, cause?: unknown): SoundsError;
  readonly prototype: SoundsError;
};

/** A browser keeps it from the page why there was no answer: CORS looks like a broken network. */
export function noAnswer(cause?: unknown): SoundsError {
  const origin = browser.location?.origin;
  const hint = origin ? ` If it runs, its CORS_ORIGINS may lack ${origin}.` : '';
  return new SoundsError(`The service did not answer.${hint}`, { status: 0, code: 'no_answer' }, cause);
}

/** For a call that needs a session where there is none any more. */
export const sessionOver = () =>
  new SoundsError('Nobody is signed in.', { status: 401, code: 'unauthorized', reason: 'session_ended' });

/**
 * The error that a response stands for.
 * @param text its body. What has no envelope comes from something between the app and the service, such as a proxy: that
 *   counts as no answer, so that it is no rejection and ends no session.
 */
export function errorOf({ status, headers }: Response, text: string): SoundsError {
  const error = envelope(text);
  if (error === null) {
    const message = `Something that is not the service answered with status ${status}.`;
    return new SoundsError(message, { status, code: 'no_answer' });
  }
  return new SoundsError(error.message, {
    status,
    code: error.code,
    reason: headers.get('X-Error-Reason') as ErrorReason | null,
    field: headers.get('X-Error-Field'),
    requestId: headers.get('X-Request-Id'),
    retryAfter: Number(headers.get('Retry-After')) || null,
  });
}

function envelope(text: string): { code: ErrorCode; message: string } | null {
  try {
    const { code, message } = JSON.parse(text).error;
    return typeof code === 'string' ? { code: code as ErrorCode, message: String(message) } : null;
  } catch {
    return null;
  }
}
