import { ApiError, unauthorized } from '../../errors.ts';
import { invalidToken, type UserCaller } from '../../model/caller.ts';
import {
  type AuthCall,
  AuthError,
  authErrorIn,
  expectAnswer,
  type Fault,
  invalidRequest,
  mapAuthError,
  type PasswordQueue,
} from './call.ts';
import { shareInFlight } from './in-flight.ts';
import { Tokens } from './sessions.ts';
import { weakPassword } from './sign-up.ts';

/** What the code of a mail is for. */
export type CodeType = 'signup' | 'recovery';

type MailedCode = { type: CodeType; email: string; code: string };

const invalidCode = () =>
  unauthorized('The code is wrong, was used already or has expired.', { reason: 'code_invalid' });

const confirmedInPart = (cause: unknown) =>
  new ApiError(
    'server_error',
    'The address is confirmed, but not all was saved. Try to sign in; if that fails, use "forgot password".',
    { cause },
  );

/** For `.catch` behind the setting of a first password, when the code is used up. @throws ApiError that says how to go on */
function mapFirstPasswordError(thrown: unknown): void {
  if (!(thrown instanceof AuthError)) throw confirmedInPart(thrown);
  if (thrown.code === 'same_password') return; // the same request at another gateway was faster
  if (isGone.includes(thrown.code)) throw invalidCode(); // so was another one, which ended this session
  const fault = passwordFaults[thrown.code];
  if (fault === undefined) throw confirmedInPart(thrown);
  throw invalidRequest({
    message: `${fault.message} The address is confirmed: use "forgot password" to set another one.`,
    field: 'password',
    reason: 'address_confirmed',
  });
}

/** Why Auth sent no mail: its code, which must not reach the client. Null for errors that are not about the mail. */
function reasonForNoMail(thrown: unknown): string | null {
  const error = authErrorIn(thrown);
  if (error === undefined || error.isForeign) return null;
  // This one is about the client's address, whatever e-mail address it asks for.
  return error.code === 'over_request_rate_limit' ? null : error.code;
}

/** Recovering, changing and deleting accounts at Supabase Auth. */
export function createAccounts(call: AuthCall, inPasswordQueue: PasswordQueue) {
  const share = shareInFlight();

  /**
   * Has Auth mail a code. The client must not learn whether it did: every error about the mail reveals that there is an
   * account.
   * @returns null, or Auth's word for why it sent no mail, for the log
   */
  async function mailCode(type: CodeType, email: string, ip: string): Promise<string | null> {
    const [path, body] = type === 'recovery' ? ['recover', { email }] : ['resend', { type, email }];
    try {
      await call(path, { ip, body });
      return null;
    } catch (thrown) {
      const reason = reasonForNoMail(thrown);
      if (reason === null) throw thrown;
      return reason;
    }
  }

  /** @throws unauthorized: one text for whatever is wrong with the code, its address or its account */
  async function exchangeCode({ type, email, code }: MailedCode, ip: string): Promise<Tokens> {
    const answer = await call('verify', { ip, body: { type, email, token: code } }).catch(
      mapAuthError(({ status }) => ([400, 403, 422].includes(status) ? invalidCode() : undefined)),
    );
    return expectAnswer(Tokens, answer);
  }

  /** Opens a session with the code of a mail. @throws unauthorized */
  const verifyCode = (mailed: MailedCode, ip: string): Promise<Tokens> =>
    share(['verify', { ...mailed, email: mailed.email.toLowerCase() }], () => exchangeCode(mailed, ip));

  /**
   * Confirms an address with the code of its mail, and sets the password and the name that hold from then on: the database
   * voids those of whoever signed up first, but for the name in the metadata, which is part of every token.
   * @param complete what else the account gets, with its session
   * @throws unauthorized for the code. Once that is used up, invalid_request and server_error, which say how to go on
   */
  function confirmAddress(
    confirmation: Omit<MailedCode, 'type'> & { password: string; fullName: string | undefined },
    ip: string,
    complete: (tokens: Tokens) => Promise<unknown>,
  ): Promise<Tokens> {
    const { email, code, password, fullName } = confirmation;
    return share(['confirm', { ...confirmation, email: email.toLowerCase() }], async () => {
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

  const putPassword = (token: string, body: object, ip: string) =>
    inPasswordQueue(ip, () => call('user', { ip, method: 'PUT', body, bearer: token }));

  /** Sets a new password and ends all other sessions. @throws invalid_request, unauthorized */
  async function changePassword(
    caller: UserCaller,
    { password, currentPassword }: { password: string; currentPassword: string | undefined },
    ip: string,
  ): Promise<void> {
    const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
    await putPassword(caller.token, body, ip).catch(
      mapAuthError((error) => {
        const fault = passwordFaults[error.code];
        if (fault !== undefined) return invalidRequest(fault);
        if (error.code === 'reauthentication_needed')
          return unauthorized('Sign in again to change the password.', {
            tokenCame: true,
            reason: 'recent_sign_in_required',
          });
        return isGone.includes(error.code) ? invalidToken(error) : undefined;
      }),
    );
  }

  /**
   * Deletes an account for good; the database removes what belongs to it. Auth is asked about the session first: a token
   * outlives it by up to an hour, and must not delete what its owner has locked out.
   * @throws unauthorized when the session has ended, or the account is banned or gone
   */
  const deleteAccount = ({ userId, token }: UserCaller): Promise<void> =>
    share(['delete', { token }], async () => {
      await call('user', { method: 'GET', bearer: token }).catch(
        mapAuthError((error) => (isGone.includes(error.code) ? invalidToken(error) : undefined)),
      );
      // Another session of the user may be as far, whose deletion is this one's as well.
      await share(['delete', { userId }], () =>
        call(`admin/users/${userId}`, { method: 'DELETE', asService: true }),
      ).catch(mapAuthError((error) => (error.code === 'user_not_found' ? invalidToken(error) : undefined)));
    });

  return { mailCode, verifyCode, confirmAddress, changePassword, deleteAccount };
}

/** The session of a token, or its user. */
const isGone = ['session_not_found', 'user_not_found', 'user_banned', 'bad_jwt'];

const wrongCurrentPassword: Fault = {
  message: 'current_password: is not the password of this account.',
  field: 'current_password',
  reason: 'wrong_current_password',
};

const passwordFaults: Record<string, Fault> = {
  same_password: {
    message: 'password: must differ from the current one.',
    field: 'password',
    reason: 'same_password',
  },
  weak_password: weakPassword,
  validation_failed: { message: 'password: was not accepted.', field: 'password' },
  current_password_required: {
    message: 'current_password: is required.',
    field: 'current_password',
    reason: 'current_password_required',
  },
  insufficient_aal: {
    message:
      'The account has a second factor, which this service does not support. The operator must remove it.',
    reason: 'second_factor',
  },
  // The code, and the name that Auth's own source gives it.
  current_password_invalid: wrongCurrentPassword,
  current_password_mismatch: wrongCurrentPassword,
};
