/** Text that explains the reason of an error to the developer of an app. */
export interface ErrorMeaning {
  /** Event that caused the error. */
  readonly what: string;
  /** Remedy for the developer. */
  readonly fix: string;
}

/**
 * Values of X-Error-Reason for each code. The document and docs/api.md are made from them. Values may be added, but a
 * published name never changes, because apps depend on it. server_error has no reasons, because its code suffices.
 */
export const reasonsOfCode = {
  invalid_request: {
    validation: {
      what: 'The request does not match this document. `X-Error-Field` names the wrong field, if there is exactly one.',
      fix: 'Correct the field: the message says its rule.',
    },
    too_large: {
      what: 'The body is larger than the endpoint accepts.',
      fix: 'Send less at once: halve a list of plays, positions or lists, and send the halves.',
    },
    https_required: {
      what: 'The request came over plain HTTP, or a proxy of the operator does not say that it came over HTTPS.',
      fix: 'Use https. If the app does, tell the operator: the proxy must send `X-Forwarded-Proto`, and `TRUST_PROXY` must name the proxy. Keep what the user did, and send it later.',
    },
    no_such_method: {
      what: 'The path exists, but not with this method (405).',
      fix: 'Use a method of the header `Allow`.',
    },
    weak_password: {
      what: 'The password is too easy to guess.',
      fix: 'Ask for a longer one with different kinds of characters.',
    },
    same_password: {
      what: 'The new password is the current one.',
      fix: 'Ask for another one.',
    },
    current_password_required: {
      what: 'The password can only be changed along with `current_password`.',
      fix: 'Ask for the current password and send it, too.',
    },
    wrong_current_password: {
      what: '`current_password` is not the password of the account.',
      fix: 'Ask again, or offer a code of `/auth/recover`.',
    },
    second_factor: {
      what: 'The account has a second factor, which the service does not support.',
      fix: 'The operator must remove it in Supabase.',
    },
    address_taken: {
      what: 'The address cannot be used to sign up.',
      fix: 'Offer to sign in, or to recover the password.',
    },
    address_confirmed: {
      what: 'The address is confirmed and the code is used, but the password was not accepted.',
      fix: 'Set a password with a code of `/auth/recover`.',
    },
    too_many_favorites: {
      what: 'The user has 5,000 favorites, which is the maximum.',
      fix: 'Remove a favorite before you add another.',
    },
    key_reused: {
      what: 'The `Idempotency-Key` was used for another sound.',
      fix: 'Make a new UUID for each play.',
    },
    sign_up_disabled: {
      what: 'The operator has switched off sign-up.',
      fix: 'Hide the sign-up form: `GET /config` says whether it is on.',
    },
    guests_disabled: {
      what: 'The operator does not let people listen without an account.',
      fix: 'Show the sign-in screen: `GET /config` says whether guests are on.',
    },
    guest: {
      what: 'The caller is a guest, who has no password and cannot adopt another guest.',
      fix: 'Let the person sign up or in first.',
    },
    apple_disabled: {
      what: 'The operator has not set up the revocation of tokens at Apple.',
      fix: 'Delete the account all the same, and tell the user how to stop using Apple for the app in the settings of the phone.',
    },
  },
  unauthorized: {
    token_invalid: {
      what: 'The access token or API key is missing, invalid, expired or revoked.',
      fix: 'Refresh the session once, and repeat the request.',
    },
    invalid_credentials: {
      what: 'The e-mail address or the password is wrong, the address is not confirmed, or the account is deactivated.',
      fix: 'Let the user try again, or offer to mail a code.',
    },
    email_not_confirmed: {
      what: 'The identity provider has not confirmed the e-mail address of an ID token.',
      fix: 'Ask the user to confirm the address there.',
    },
    sign_in_disabled: {
      what: 'The operator has switched off signing in with an e-mail address.',
      fix: 'Offer the other ways to sign in: `GET /config` names them.',
    },
    code_invalid: {
      what: 'The mailed code, or the authorization code of Apple, is wrong, used or expired.',
      fix: 'Let the user correct it, or mail a new one. Of Apple: delete the account all the same.',
    },
    id_token_refused: {
      what: 'The ID token, its nonce or its issuer is not accepted.',
      fix: 'Get a new ID token. If that fails, too, compare the client ids and providers with those of the project.',
    },
    session_ended: {
      what: 'The refresh token is invalid: the session is over.',
      fix: 'Sign in again. This reason alone ends a session.',
    },
    guest_token_invalid: {
      what: 'The access token of the guest in the body is invalid or has expired.',
      fix: 'Refresh the session of the guest, and repeat the request. If that session has ended, the guest is gone.',
    },
    recent_sign_in_required: {
      what: 'This needs a sign-in of the last 15 minutes; a refresh does not count.',
      fix: 'Let the user sign in again, then repeat the request.',
    },
    key_scope: {
      what: 'The API key is valid, but its scope does not include this request. The message names both scopes.',
      fix: 'Ask the operator for a key with the scope that the message names. Do not repeat the request.',
    },
  },
  not_found: {
    no_such_path: {
      what: 'No endpoint has this path.',
      fix: 'Compare the address with the table above. If it is right, a proxy changes it, or the service is older than the app: keep what the user did, and send it later.',
    },
    no_such_sound: {
      what: 'The sound does not exist, is not active, or is locked for the caller. An id that is no UUID gets this, too.',
      fix: 'Remove the sound from the screen. Do not repeat the request.',
    },
    no_such_session: {
      what: 'The caller has no session with this id, or it has ended.',
      fix: 'Load the list of sessions again.',
    },
    no_such_guest: {
      what: 'The guest does not exist any more: it was adopted or deleted before.',
      fix: 'Forget the session of the guest. What it did is in the account that adopted it.',
    },
    no_such_customer: {
      what: 'The account has no customer record, because it was just deleted.',
      fix: 'Sign out.',
    },
    no_such_resource: {
      what: 'A sound or the account was deleted while the request ran.',
      fix: 'Repeat the request: its response then names what is missing.',
    },
  },
  rate_limited: {
    limit_requests: {
      what: 'Too many requests, or the service is overloaded.',
      fix: 'Wait as many seconds as `Retry-After` says.',
    },
    limit_attempts: {
      what: 'Too many attempts to sign up or in, or to enter a code or password.',
      fix: 'Wait as many seconds as `Retry-After` says, and tell the user how long that is.',
    },
    limit_mails: {
      what: 'Too many mails.',
      fix: 'Use the newest mail that has arrived, or wait as many seconds as `Retry-After` says.',
    },
    limit_exports: {
      what: 'Too many exports of the account.',
      fix: 'Keep the last export, or wait as many seconds as `Retry-After` says.',
    },
  },
} as const satisfies Record<string, Record<string, ErrorMeaning>>;

type ReasonsOf<Codes> = Codes extends unknown ? keyof Codes : never;
export type ErrorReason = ReasonsOf<(typeof reasonsOfCode)[keyof typeof reasonsOfCode]>;

/** Resource that a request can name and that can be missing. */
export type Missing = keyof (typeof reasonsOfCode)['not_found'] extends `no_such_${infer Noun}` ? Noun : never;

/** Returns the address of the explanation of a reason, in the repository. */
export const addressOfReason = (reason: ErrorReason) => `docs/api.md#${reason}`;
