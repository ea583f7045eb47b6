import { z } from 'zod';
import { ApiError, tokenRejected, unauthorized } from '../../errors.ts';
import { invalidToken } from '../../model/caller.ts';
import { Tokens } from '../../model/session.ts';
import type { Auth, CodeType } from './auth.ts';
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

/** Response whose values are not needed. Auth answers some calls with an empty object. */
const JsonObject = z.object();

/** Identities of a user: at Apple, `sub` is the id of the user there. Auth has null for none. */
const UserIdentities = z.object({
  identities: z
    .array(z.object({ provider: z.string(), identity_data: z.object({ sub: z.string() }) }))
    .nullish()
    .transform((value) => value ?? []),
});

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
  if (!error?.code) return null;
  // The client may learn of this limit, because it counts by IP address.
  return error.code === 'over_request_rate_limit' ? null : error.code;
}

/** Creates the call that opens a session with a mailed code. */
function createCodeExchange(call: AuthCall) {
  return async (type: CodeType, email: string, token: string, ip: string): Promise<Tokens> => {
    const answer = await call('verify', { ip, body: { type, email, token } }).catch(
      mapAuthError(({ status }) => ([400, 403, 422].includes(status) ? invalidCode() : undefined)),
    );
    return expectAnswer(Tokens, answer);
  };
}

/** Creates the deletion of an account. Two simultaneous ones of a user share one call. */
function createDeletion(call: AuthCall, share: ReturnType<typeof shareInFlight>): Auth['deleteAccount'] {
  return ({ userId, token }) =>
    share(['delete', { token }], async () => {
      expectAnswer(JsonObject, await call('user', { method: 'GET', bearer: token }).catch(mapGone(isGone)));
      // Another session of the user may delete the account at the same time.
      const answer = await share(['delete', { userId }], () =>
        call(`admin/users/${userId}`, { method: 'DELETE', asService: true }),
      ).catch(mapGone(['user_not_found']));
      expectAnswer(JsonObject, answer);
    });
}

export function createAccounts(
  call: AuthCall,
  inPasswordQueue: PasswordQueue,
): Pick<Auth, 'mailCode' | 'verifyCode' | 'confirmAddress' | 'changePassword' | 'appleIds' | 'deleteAccount'> {
  const share = shareInFlight();

  const exchangeCode = createCodeExchange(call);

  /** Sets a password with the token of a session, which makes the client a trusted one. */
  const putPassword = (token: string, body: object, ip: string) =>
    inPasswordQueue(
      ip,
      async () => expectAnswer(JsonObject, await call('user', { ip, method: 'PUT', body, bearer: token })),
      { isTrusted: true },
    );

  return {
    async mailCode(type, email, ip) {
      const [path, body] = type === 'recovery' ? ['recover', { email }] : ['resend', { type, email }];
      try {
        expectAnswer(JsonObject, await call(path, { ip, body }));
        return null;
      } catch (thrown) {
        const reason = reasonForNoMail(thrown);
        if (reason === null) throw thrown;
        return reason;
      }
    },

    verifyCode: (mailed, ip) =>
      share(['verify', mailed], () => exchangeCode(mailed.type, mailed.email, mailed.code, ip)),

    confirmAddress: (confirmation, ip, complete) =>
      share(['confirm', confirmation], async () => {
        const { email, code, password, fullName } = confirmation;
        const tokens = await exchangeCode('signup', email, code, ip);
        const body = { password, data: { full_name: fullName ?? null } };
        await Promise.all([
          putPassword(tokens.access_token, body, ip).catch(mapFirstPasswordError),
          complete(tokens).catch((cause: unknown) => {
            throw confirmedInPart(cause);
          }),
        ]);
        return tokens;
      }),

    async changePassword({ token }, { password, currentPassword }, ip) {
      const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
      await putPassword(token, body, ip).catch(
        mapAuthError((error) => {
          const fault = passwordFaults[error.code]?.();
          if (fault !== undefined) return fault;
          if (error.code === 'reauthentication_needed')
            return tokenRejected('Sign in again to change the password.', { reason: 'recent_sign_in_required' });
          return isGone.includes(error.code) ? invalidToken(error) : undefined;
        }),
      );
    },

    async appleIds({ token }) {
      const answer = await call('user', { method: 'GET', bearer: token }).catch(mapGone(isGone));
      const { identities } = expectAnswer(UserIdentities, answer);
      return identities.filter(({ provider }) => provider === 'apple').map(({ identity_data }) => identity_data.sub);
    },

    deleteAccount: createDeletion(call, share),
  };
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
  // Map both codes of this error, because Auth sends the first, although its list of codes has the second.
  current_password_invalid: wrongCurrentPassword,
  current_password_mismatch: wrongCurrentPassword,
};
