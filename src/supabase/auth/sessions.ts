import { z } from 'zod';
import type { IdTokenProvider } from '../../config.ts';
import { unauthorized } from '../../errors.ts';
import { callEvenly } from '../even-time.ts';
import type { PasswordQueue } from '../password-queue.ts';
import {
  type AuthCall,
  AuthError,
  authErrorIn,
  createSharing,
  expectAnswer,
  type Fault,
  invalidRequest,
  mapAuthError,
} from './call.ts';
import type { Settings } from './settings.ts';

const User = z.object({ id: z.string(), email: z.string().nullish() });
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('bearer'),
  expires_at: z.number(),
  expires_in: z.number(),
  user: User,
});
export type Tokens = z.infer<typeof Tokens>;

/**
 * Sessions at Supabase Auth. Each call resolves with what Auth gave or throws an ApiError chosen by Auth's error code;
 * Auth's own text is never passed on.
 */
export function createSessions(
  call: AuthCall,
  inPasswordQueue: PasswordQueue,
  settings: () => Promise<Settings>,
) {
  const share = createSharing();

  /** Asks Auth for an account. @returns null when its address must be confirmed first */
  async function askForAccount(
    body: { email: string; password: string; data: object },
    ip: string,
    noMail: (why: object) => void,
  ): Promise<Tokens | null> {
    const { answer, due } = callEvenly(inPasswordQueue, ip, () => call('signup', { ip, body }));
    const made = answer.catch((thrown: unknown) => {
      if (!authErrorIn(thrown)?.isUserNotSaved) throw thrown; // the same sign-up at another gateway was faster
      const { email, password } = body;
      const signIn = () => call('token?grant_type=password', { ip, body: { email, password } });
      return inPasswordQueue(ip, signIn).catch(() => {
        throw thrown;
      });
    });
    const mustConfirm = () =>
      settings().then(
        (known) => !known.mailer_autoconfirm,
        () => false,
      );
    const asked = made.then(
      (account) => {
        const tokens = expectAnswer(Tokens.or(User), account);
        return 'access_token' in tokens ? tokens : null;
      },
      async (thrown: unknown) => {
        // Auth sends a mail, and can lose the race of two sign-ups, only where there is no confirmed account: these errors
        // would tell which addresses have one.
        const { status, code: reason } = authErrorIn(thrown) ?? {};
        const isFailure = status === 500 && reason === 'unexpected_failure';
        const isHidden = reason === 'over_email_send_rate_limit' || (isFailure && (await mustConfirm()));
        if (!isHidden) throw thrown;
        noMail({ reason });
        return null;
      },
    );
    const tokens = await Promise.race([asked, due.then(async () => ((await mustConfirm()) ? null : asked))]);
    if (tokens === null) {
      asked.catch((err: unknown) => noMail({ err }));
      await due;
    }
    return tokens;
  }

  /**
   * @param noMail told, perhaps later, why no mail was sent: the client must not learn that
   * @returns tokens, or null when the e-mail address must be confirmed first. That is the same for every address, and at the
   *   same time, whether it has an account or not
   */
  function signUp(
    { email, password, fullName }: { email: string; password: string; fullName: string | undefined },
    ip: string,
    noMail: (why: object) => void,
  ): Promise<Tokens | null> {
    const body = { email, password, data: fullName === undefined ? {} : { full_name: fullName } };
    const ask = () => askForAccount(body, ip, noMail);
    return share('signup', { ...body, email: email.toLowerCase() }, ask).catch(
      mapAuthError(({ code }) => {
        const fault = signUpFaults[code];
        return fault && invalidRequest(fault);
      }),
    );
  }

  /** @throws unauthorized: one text for an unknown address, a wrong password and a locked account, all at the same time. */
  async function signIn(credentials: { email: string; password: string }, ip: string) {
    const ask = () => call('token?grant_type=password', { ip, body: credentials });
    const { answer, due } = callEvenly(inPasswordQueue, ip, ask);
    const tokens = await answer
      .catch(async (thrown: unknown) => {
        if (thrown instanceof AuthError) await due;
        throw thrown;
      })
      .catch(
        mapAuthError(({ code }) => {
          if (code === 'email_not_confirmed') return emailNotConfirmed();
          if (code === 'email_provider_disabled')
            return unauthorized('Signing in with an e-mail address is switched off.', {
              reason: 'sign_in_disabled',
            });
          if (['invalid_credentials', 'user_banned', 'validation_failed'].includes(code)) {
            return unauthorized('The e-mail address or the password is wrong.', {
              reason: 'invalid_credentials',
            });
          }
          return undefined;
        }),
      );
    return expectAnswer(Tokens, tokens);
  }

  /** @throws unauthorized for whatever Auth finds wrong with the ID token, its nonce or its account. */
  async function exchangeIdToken(
    { provider, idToken, nonce }: { provider: IdTokenProvider; idToken: string; nonce: string | undefined },
    ip: string,
  ) {
    const body = { provider, id_token: idToken, ...(nonce !== undefined && { nonce }) };
    const ask = () => call('token?grant_type=id_token', { ip, body });
    const answer = await share('id_token', body, ask).catch(
      mapAuthError(({ status, code }) => {
        if (code === 'provider_email_needs_verification') return emailNotConfirmed();
        return [400, 403, 422].includes(status)
          ? unauthorized('The ID token was not accepted.', { reason: 'id_token_refused' })
          : undefined;
      }),
    );
    return expectAnswer(Tokens, answer);
  }

  /** @throws unauthorized when the token is unknown, used up, or its session has ended. */
  async function refresh(refreshToken: string, ip: string) {
    const body = { refresh_token: refreshToken };
    const ask = () => call('token?grant_type=refresh_token', { ip, body });
    // 400 and 403 are about the token, for whatever reason Auth names; 401 and 404 mean that our own key or address
    // is wrong, and must not sign everybody out.
    const answer = await share('refresh', body, ask).catch(
      mapAuthError(({ status }) =>
        status === 400 || status === 403
          ? unauthorized('The refresh token is invalid or was already used. Sign in again.', {
              reason: 'session_ended',
            })
          : undefined,
      ),
    );
    return expectAnswer(Tokens, answer);
  }

  /** Ends the session of an access token and no other; a session that has already ended is success. */
  async function signOut(accessToken: string, ip: string): Promise<void> {
    const isOver = ['session_not_found', 'user_not_found', 'user_banned'];
    await call('logout?scope=local', { ip, bearer: accessToken })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof AuthError && isOver.includes(thrown.code))) throw thrown;
      })
      .catch(
        mapAuthError(({ code }) =>
          code === 'bad_jwt'
            ? unauthorized('The access token is invalid or has expired.', { tokenCame: true })
            : undefined,
        ),
      );
  }

  return { signUp, signIn, exchangeIdToken, refresh, signOut };
}

const emailNotConfirmed = () =>
  unauthorized('Confirm your e-mail address first.', { reason: 'email_not_confirmed' });

/** For a password that Auth finds too weak, at sign-up and later. */
export const weakPassword: Fault = {
  message: 'password: too easy to guess. Choose a longer one with different kinds of characters.',
  field: 'password',
  reason: 'weak_password',
};

const addressTaken: Fault = {
  message: 'This e-mail address cannot be used to sign up.',
  field: 'email',
  reason: 'address_taken',
};
const noMail: Fault = { message: 'email: this address cannot receive mail.', field: 'email' };

const signUpFaults: Record<string, Fault> = {
  user_already_exists: addressTaken,
  email_exists: addressTaken,
  email_address_invalid: noMail,
  email_address_not_authorized: noMail,
  validation_failed: { message: 'The e-mail address or the password was not accepted.' },
  weak_password: weakPassword,
  signup_disabled: { message: 'Sign-up is switched off.', reason: 'sign_up_disabled' },
  email_provider_disabled: {
    message: 'Sign-up with an e-mail address is switched off.',
    reason: 'sign_up_disabled',
  },
};
