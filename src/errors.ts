/** Status of each error code of the contract. */
export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/** The values of X-Error-Reason for each code that has any, and their meanings. More may be added. */
export const reasonsOfCode = {
  invalid_request: {
    validation:
      'The request is not as documented. `X-Error-Field` names the wrong field, if it is a single one.',
    weak_password: 'The password is too easy to guess.',
    same_password: 'The new password is the current one.',
    current_password_required: 'The password can only be changed along with `current_password`.',
    wrong_current_password: '`current_password` is not the password of the account.',
    second_factor:
      'The account has a second factor, which the service does not support. The operator must remove it.',
    address_taken: 'The address cannot be used to sign up.',
    address_confirmed:
      'The address is confirmed and the code is used, but the password was not accepted. Set one with a code of `/auth/recover`.',
    too_many_favorites: 'The user has 5,000 favorites, which is the maximum.',
    key_reused: 'The `Idempotency-Key` was used for another sound.',
    sign_up_disabled: 'The operator has switched off sign-up.',
  },
  unauthorized: {
    token_invalid: 'The access token or API key is missing, invalid, expired or revoked: refresh.',
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

/** Default reason of each code. not_found and server_error have none, because their codes say it all. */
const usualReason: { [Code in ErrorCode]?: ErrorReason } = {
  invalid_request: 'validation',
  unauthorized: 'token_invalid',
  rate_limited: 'limit_requests',
};

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
