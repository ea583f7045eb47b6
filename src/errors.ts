export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/** Values of X-Error-Reason for each code, with their meanings. More may be added. */
export const reasonsOfCode = {
  invalid_request: {
    validation:
      'The request does not match this document. `X-Error-Field` names the wrong field, if there is exactly one.',
    weak_password: 'The password is too easy to guess.',
    same_password: 'The new password is the current one.',
    current_password_required: 'The password can only be changed along with `current_password`.',
    wrong_current_password: '`current_password` is not the password of the account.',
    second_factor: 'The account has a second factor, which the service does not support. The operator must remove it.',
    address_taken: 'The address cannot be used to sign up.',
    address_confirmed:
      'The address is confirmed and the code is used, but the password was not accepted. Set one with a code of `/auth/recover`.',
    too_many_favorites: 'The user has 5,000 favorites, which is the maximum.',
    key_reused: 'The `Idempotency-Key` was used for another sound.',
    sign_up_disabled: 'The operator has switched off sign-up.',
  },
  unauthorized: {
    token_invalid: 'The access token or API key is missing, invalid, expired or revoked. Refresh the session.',
    invalid_credentials: 'The e-mail address or the password is wrong, or the account is deactivated.',
    email_not_confirmed: 'The e-mail address must be confirmed first.',
    sign_in_disabled: 'The operator has switched off signing in with an e-mail address.',
    code_invalid: 'The mailed code is wrong, used or expired.',
    id_token_refused: 'The ID token, its nonce or its issuer is not accepted.',
    session_ended: 'The refresh token is invalid: the session is over.',
    recent_sign_in_required: 'This needs a recent sign-in; a refresh does not count.',
  },
  rate_limited: {
    limit_requests: 'Too many requests.',
    limit_attempts: 'Too many attempts to sign up or in, or to enter a code or password.',
    limit_mails: 'Too many mails.',
    limit_exports: 'Too many exports of the account.',
  },
} as const satisfies { [Code in ErrorCode]?: Record<string, string> };

type ReasonsOf<Codes> = Codes extends unknown ? keyof Codes : never;
export type ErrorReason = ReasonsOf<(typeof reasonsOfCode)[keyof typeof reasonsOfCode]>;

/** Default reason of each code. not_found and server_error have none, because their codes suffice. */
const usualReason: { [Code in ErrorCode]?: ErrorReason } = {
  invalid_request: 'validation',
  unauthorized: 'token_invalid',
  rate_limited: 'limit_requests',
};

type ApiErrorOptions = {
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
  /** One of the reasons of the code. Default: usualReason[code]. */
  reason?: ErrorReason | undefined;
  /** Name of the limit that caused a 429. Logged, never sent. */
  limit?: string;
  /** Name of the wrong field of the body, query parameter or header. */
  field?: string | undefined;
  /** Status that RFC 9110 requires instead of that of the code. */
  status?: number;
};

/** Error whose code and message are sent to the client. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
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

/** Returns the 404 for a resource that does not exist or that the caller must not see. */
export const notFound = (noun: string) => new ApiError('not_found', `There is no such ${noun}.`);

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
