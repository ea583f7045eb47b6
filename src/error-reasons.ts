/** Status of each error code of the contract. */
export const statusOfCode = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
} as const;

export type ErrorCode = keyof typeof statusOfCode;

/**
 * The values of X-Error-Reason for each code that has any, and their meanings. More may be added.
 */
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

type ReasonsOfCode = typeof reasonsOfCode;

export type ErrorReason = { [Code in keyof ReasonsOfCode]: keyof ReasonsOfCode[Code] }[keyof ReasonsOfCode];

/** Default reason of each code. not_found and server_error have none, because their codes say it all. */
export const usualReason: { [Code in ErrorCode]?: ErrorReason } = {
  invalid_request: 'validation',
  unauthorized: 'token_invalid',
  rate_limited: 'limit_requests',
};
