import { browser } from './browser.ts';
import { parseJson } from './json.ts';
import type { Schema } from './schema.ts';

/** Code of the service, or `no_answer` without a network or response. A newer service may have other codes. */
export type ErrorCode = Schema<'ErrorCode'> | 'no_answer';

/** Value of X-Error-Reason. A newer service may have other values. */
export type ErrorReason =
  | Schema<'InvalidRequestReason'>
  | Schema<'UnauthorizedReason'>
  | Schema<'NotFoundReason'>
  | Schema<'RateLimitedReason'>
  | 'locked'
  | 'too_many';

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
  /** The HTTP status; 0 without a response. */
  declare readonly status: number;
  declare readonly code: ErrorCode;
  /**
   * Reason for a 400, 401, 404 or 429, `locked` for a sound that needs premium, or `too_many` for a list. Let your code
   * depend on it, never on the message.
   */
  declare readonly reason: ErrorReason | null;
  /** Name of the invalid field, if there is exactly one. */
  declare readonly field: string | null;
  /** Id of the request, for reports of problems. */
  declare readonly requestId: string | null;
  /** Seconds to wait before the next attempt, if the service has sent them. */
  declare readonly retryAfter: number | null;

  constructor(message: string, details: Details, cause?: unknown) {
    super(message);
    if (cause) this.cause = cause;
    Object.assign(this, { reason: null, field: null, requestId: null, retryAfter: null, ...details });
  }
}

type Coded<Code extends ErrorCode, Reason> = ServiceError & { readonly code: Code; readonly reason: Reason | null };

/** Error of every call that fails, unless its `signal` was aborted. The type of `reason` depends on `code`. */
export type SoundsError =
  | Coded<'invalid_request', Schema<'InvalidRequestReason'> | 'too_many'>
  | Coded<'unauthorized', Schema<'UnauthorizedReason'>>
  | Coded<'rate_limited', Schema<'RateLimitedReason'>>
  | Coded<'not_found', Schema<'NotFoundReason'> | 'locked'>
  | Coded<'server_error', never>
  | Coded<'no_answer', never>;

/** Class of SoundsError, for `instanceof`. */
export const SoundsError = ServiceError as unknown as {
  new (message: string, details: Details, cause?: unknown): SoundsError;
  readonly prototype: SoundsError;
};

/** Returns the error for a missing response. Mentions CORS, because browsers do not report it separately. */
export function noAnswer(cause?: unknown): SoundsError {
  const origin = browser.location?.origin;
  const hint = origin ? ` If it runs, CORS_ORIGINS may lack ${origin}.` : '';
  return new SoundsError(`The service did not answer.${hint}`, { status: 0, code: 'no_answer' }, cause);
}

/** Returns the error of a call that needs a session if there is none. */
export const sessionOver = () =>
  new SoundsError('No user is signed in.', {
    status: 401,
    code: 'unauthorized',
    reason: 'session_ended',
  });

/** Returns the error of a call for the audio of a premium sound, if the user has no premium. */
export const locked = () =>
  new SoundsError('The sound needs premium.', { status: 404, code: 'not_found', reason: 'locked' });

/** Returns the error of an edit of a list that would exceed a maximum of the service. */
export const tooMany = () =>
  new SoundsError('There are too many lists, or too many sounds in them.', {
    status: 400,
    code: 'invalid_request',
    reason: 'too_many',
  });

/**
 * Returns the error for a response that is not what was asked for.
 * @param text body of the response. Without the error envelope, the response comes from a proxy. The error then has
 *   the code `no_answer`, so that it ends neither a session nor an unsent entry.
 */
export function errorOf({ status, headers }: Response, text: string): SoundsError {
  const error = envelope(text);
  const details = { status, retryAfter: retryAfterOf(headers) };
  if (!error || status < 400) {
    const message = `Another server answered: ${status}.`;
    return new SoundsError(message, { ...details, code: 'no_answer' });
  }
  return new SoundsError(error.message, {
    ...details,
    code: error.code,
    reason: headers.get('X-Error-Reason') as ErrorReason | null,
    field: headers.get('X-Error-Field'),
    requestId: headers.get('X-Request-Id'),
  });
}

/** Returns the error for a redirect, which is not followed because another host would get the request. */
export function redirected(status: number, address: string | null): SoundsError {
  const message = `The service redirects to ${address ?? 'another url'}: use it.`;
  return new SoundsError(message, { status, code: 'no_answer' });
}

/** Returns the seconds of Retry-After, which may be a date on the clock of the response; null if it is past. */
function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('Retry-After') ?? '';
  const sentMs = Date.parse(headers.get('Date') ?? '') || Date.now();
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - sentMs) / 1_000);
  return seconds > 0 ? seconds : null;
}

function envelope(text: string): { code: ErrorCode; message: string } | null {
  const error = parseJson<{ error?: { code: ErrorCode; message: string } }>(text)?.error;
  return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
}
