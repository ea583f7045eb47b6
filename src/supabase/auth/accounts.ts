import { z } from 'zod';
import { ApiError, tokenRejected, unauthorized } from '../../errors.ts';
import { invalidToken, type UserCaller } from '../../model/caller.ts';
import { Tokens } from '../../model/session.ts';
import {
  type AuthCall,
  AuthError,
  authErrorIn,
  expectAnswer,
  type Faults,
  invalidRequest,
  mapAuthError,
} from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { PasswordQueue } from './password-queue.ts';
import { weakPassword } from './sign-up.ts';

/** Purpose of a mailed code. */
export type CodeType = 'signup' | 'recovery';

/** Response whose values are not needed. Auth answers some calls with an empty object. */
const JsonObject = z.object();

type MailedCode = { type: CodeType; email: string; code: string };

const invalidCode = () => unauthorized('The code is wrong, was used already or has expired.', 'code_invalid');

const confirmedInPart = (cause: unknown) =>
  new ApiError(
    'server_error',
    'The address is confirmed, but the rest was not saved. Try to sign in; if that fails, use "forgot password".',
    { cause },
  );

/** Maps the error of setting a first password, after the code was used. @throws ApiError that tells how to continue */
function mapFirstPasswordError(thrown: unknown): void {
  if (!(thrown instanceof AuthError)) throw confirmedInPart(thrown);
  if (thrown.code === 'same_password') return; // another gateway has set it already
  if (isGone.includes(thrown.code)) throw invalidCode(); // another gateway has ended this session
  const fault = passwordFaults[thrown.code]?.();
  if (fault === undefined) throw confirmedInPart(thrown);
  const message = `${fault.message} The address is confirmed: use "forgot password" to set another one.`;
  throw invalidRequest(message, 'password', 'address_confirmed');
}

/** Returns Auth's reason for not sending a mail, for the log only. Null for errors that are not about the mail. */
function reasonForNoMail(thrown: unknown): string | null {
  const error = authErrorIn(thrown);
  if (error === undefined || error.isForeign) return null;
  // The client may learn of this limit, because it counts by IP address.
  return error.code === 'over_request_rate_limit' ? null : error.code;
}

/** Returns the calls that recover, change and delete accounts at Supabase Auth. */
export function createAccounts(call: AuthCall, inPasswordQueue: PasswordQueue) {
  const share = shareInFlight();

  /**
   * Has Auth mail a code. The client must not learn the result, because an error about the mail reveals an account.
   * @returns null, or Auth's code for why it sent no mail, for the log
   */
  async function mailCode(type: CodeType, email: string, ip: string): Promise<string | null> {
    const [path, body] = type === 'recovery' ? ['recover', { email }] : ['resend', { type, email }];
    try {
      expectAnswer(JsonObject, await call(path, { ip, body }));
      return null;
    } catch (thrown) {
      const reason = reasonForNoMail(thrown);
      if (reason === null) throw thrown;
      return reason;
    }
  }

  /** @throws unauthorized, with one text for every fault of the code, its address or its account */
  async function exchangeCode({ type, email, code }: MailedCode, ip: string): Promise<Tokens> {
    const answer = await call('verify', { ip, body: { type, email, token: code } }).catch(
      mapAuthError(({ status }) => ([400, 403, 422].includes(status) ? invalidCode() : undefined)),
    );
    return expectAnswer(Tokens, answer);
  }

  /** Opens a session with a mailed code. @throws unauthorized */
  const verifyCode = (mailed: MailedCode, ip: string): Promise<Tokens> =>
    share(['verify', mailed], () => exchangeCode(mailed, ip));

  /**
   * Confirms an address with a mailed code, and sets the password and name. The database removes those of the first
   * sign-up, except the name in the metadata, which is part of every token.
   * @param complete runs with the new session, to complete the account
   * @throws unauthorized for the code. After it was used: invalid_request or server_error, which say how to go on
   */
  function confirmAddress(
    confirmation: Omit<MailedCode, 'type'> & { password: string; fullName: string | undefined },
    ip: string,
    complete: (tokens: Tokens) => Promise<unknown>,
  ): Promise<Tokens> {
    const { email, code, password, fullName } = confirmation;
    return share(['confirm', confirmation], async () => {
      const tokens = await exchangeCode({ type: 'signup', email, code }, ip);
      await Promise.all([
        putPassword(tokens.access_token, { password, data: { full_name: fullName ?? null } }, ip).catch(
          mapFirstPasswordError,
        ),
        complete(tokens).catch((cause: unknown) => {
          throw confirmedInPart(cause);
        }),
      ]);
      return tokens;
    });
  }

  /** Sets a password with the token of a session, which makes the client a trusted one. */
  const putPassword = (token: string, body: object, ip: string) =>
    inPasswordQueue(
      ip,
      async () => expectAnswer(JsonObject, await call('user', { ip, method: 'PUT', body, bearer: token })),
      { isTrusted: true },
    );

  /** Sets a new password and ends all other sessions. @throws invalid_request, unauthorized */
  async function changePassword(
    caller: UserCaller,
    { password, currentPassword }: { password: string; currentPassword: string | undefined },
    ip: string,
  ): Promise<void> {
    const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
    await putPassword(caller.token, body, ip).catch(
      mapAuthError((error) => {
        const fault = passwordFaults[error.code]?.();
        if (fault !== undefined) return fault;
        if (error.code === 'reauthentication_needed')
          return tokenRejected('Sign in again to change the password.', { reason: 'recent_sign_in_required' });
        return isGone.includes(error.code) ? invalidToken(error) : undefined;
      }),
    );
  }

  /**
   * Deletes an account; the database deletes its rows. Checks the session first, because its token may outlive it.
   * @throws unauthorized when the session has ended, or the account is banned or deleted
   */
  const deleteAccount = ({ userId, token }: UserCaller): Promise<void> =>
    share(['delete', { token }], async () => {
      expectAnswer(JsonObject, await call('user', { method: 'GET', bearer: token }).catch(mapGone(isGone)));
      // Another session of the user may delete the account at the same time.
      const answer = await share(['delete', { userId }], () =>
        call(`admin/users/${userId}`, { method: 'DELETE', asService: true }),
      ).catch(mapGone(['user_not_found']));
      expectAnswer(JsonObject, answer);
    });

  return { mailCode, verifyCode, confirmAddress, changePassword, deleteAccount };
}

/** Codes of Auth for a session or user that no longer exists. */
const isGone = ['session_not_found', 'user_not_found', 'user_banned', 'bad_jwt'];
const mapGone = (codes: string[]) =>
  mapAuthError((error) => (codes.includes(error.code) ? invalidToken(error) : undefined));

const wrongCurrentPassword = () =>
  invalidRequest(
    'current_password: is not the password of this account.',
    'current_password',
    'wrong_current_password',
  );

const passwordFaults: Faults = {
  same_password: () => invalidRequest('password: must differ from the current one.', 'password', 'same_password'),
  weak_password: weakPassword,
  validation_failed: () => invalidRequest('password: was not accepted.', 'password'),
  current_password_required: () =>
    invalidRequest('current_password: is required.', 'current_password', 'current_password_required'),
  insufficient_aal: () =>
    invalidRequest(
      'The account has a second factor, which this service does not support. The operator must remove it.',
      undefined,
      'second_factor',
    ),
  // Maps both names of this error: Auth sends the first, its source has the second.
  current_password_invalid: wrongCurrentPassword,
  current_password_mismatch: wrongCurrentPassword,
};
