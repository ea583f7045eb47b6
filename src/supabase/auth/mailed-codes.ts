import { ApiError, unauthorized } from '../../errors.ts';
import { Tokens } from '../../model/session.ts';
import type { Auth, CodeType } from './auth.ts';
import {
  type AuthCall,
  AuthError,
  authErrorIn,
  expectAnswer,
  invalidRequest,
  JsonObject,
  mapAuthError,
} from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { InPasswordQueue } from './password-queue.ts';
import { createPasswordChange, goneCodes, passwordFaults } from './passwords.ts';

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
  if (goneCodes.includes(thrown.code)) throw invalidCode(); // another gateway has ended this session
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

export function createMailedCodes(
  call: AuthCall,
  inPasswordQueue: InPasswordQueue,
): Pick<Auth, 'mailCode' | 'verifyCode' | 'confirmAddress'> {
  const share = shareInFlight();
  const exchangeCode = createCodeExchange(call);
  const setPassword = createPasswordChange(call, inPasswordQueue);

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
          setPassword(tokens.access_token, body, ip).catch(mapFirstPasswordError),
          complete(tokens).catch((cause: unknown) => {
            throw confirmedInPart(cause);
          }),
        ]);
        return tokens;
      }),
  };
}
