import { z } from 'zod';
import type { IdTokenProvider } from '../../config.ts';
import { tokenRejected, unauthorized } from '../../errors.ts';
import { nfc, Tokens } from '../../model/session.ts';
import { type AuthCall, AuthError, expectAnswer, mapAuthError } from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { PasswordQueue } from './password-queue.ts';
import { minimumDelay } from './timing.ts';

/** Returns the calls for sessions at Supabase Auth. Clients get errors by Auth's error code, never the text of Auth. */
export function createSessions(call: AuthCall, inPasswordQueue: PasswordQueue) {
  const share = shareInFlight();

  /**
   * @param options for the queue
   * @throws unauthorized after the same time, with one text for an unknown address, wrong password and banned account
   */
  async function signIn(
    credentials: { email: string; password: string },
    ip: string,
    options?: Parameters<PasswordQueue>[2],
  ) {
    let due: Promise<void> | undefined;
    const ask = () => {
      due = minimumDelay();
      const attempt = (password: string) =>
        call('token?grant_type=password', { ip, body: { ...credentials, password } });
      const composed = nfc(credentials.password);
      // An older account may have the password as it was typed.
      return attempt(composed).catch((error: unknown) => {
        const isWrong = error instanceof AuthError && error.code === 'invalid_credentials';
        if (isWrong && composed !== credentials.password) return attempt(credentials.password);
        throw error;
      });
    };
    const tokens = await inPasswordQueue(ip, ask, options)
      .catch(async (thrown: unknown) => {
        if (thrown instanceof AuthError) await due;
        throw thrown;
      })
      .catch(
        mapAuthError(({ code }) => {
          if (code === 'email_not_confirmed') return emailNotConfirmed();
          if (code === 'email_provider_disabled')
            return unauthorized('Signing in with an e-mail address is switched off.', 'sign_in_disabled');
          return ['invalid_credentials', 'user_banned', 'validation_failed'].includes(code)
            ? unauthorized('The e-mail address or the password is wrong.', 'invalid_credentials')
            : undefined;
        }),
      );
    return expectAnswer(Tokens, tokens);
  }

  /** @throws unauthorized when Auth rejects the ID token, its nonce or its account */
  async function exchangeIdToken(
    { provider, idToken, nonce }: { provider: IdTokenProvider; idToken: string; nonce: string | undefined },
    ip: string,
  ) {
    const body = { provider, id_token: idToken, ...(nonce !== undefined && { nonce }) };
    const ask = () => call('token?grant_type=id_token', { ip, body });
    const answer = await share(['id_token', body], ask).catch(
      mapAuthError(({ status, code }) => {
        if (code === 'provider_email_needs_verification') return emailNotConfirmed();
        return [400, 403, 422].includes(status)
          ? unauthorized('The ID token was not accepted.', 'id_token_refused')
          : undefined;
      }),
    );
    return expectAnswer(Tokens, answer);
  }

  /** @throws unauthorized when the token is unknown or was used, or its session has ended */
  async function refresh(refreshToken: string, ip: string) {
    const body = { refresh_token: refreshToken };
    const ask = () => call('token?grant_type=refresh_token', { ip, body });
    // 400 and 403 are about the token. 401 and 404 mean a wrong key or address of the gateway: sessions must not end.
    const answer = await share(['refresh', body], ask).catch(
      mapAuthError(({ status }) =>
        status === 400 || status === 403
          ? unauthorized('The refresh token is invalid or was already used. Sign in again.', 'session_ended')
          : undefined,
      ),
    );
    return expectAnswer(Tokens, answer);
  }

  /** Ends the session of an access token. A session that has already ended is success. */
  async function signOut(accessToken: string, ip: string): Promise<void> {
    const isOver = ['session_not_found', 'user_not_found', 'user_banned'];
    const answer = await call('logout?scope=local', { ip, bearer: accessToken })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof AuthError && isOver.includes(thrown.code))) throw thrown;
      })
      .catch(
        mapAuthError(({ code }) =>
          code === 'bad_jwt' ? tokenRejected('The access token is invalid or has expired.') : undefined,
        ),
      );
    expectAnswer(z.undefined(), answer); // a 204 has no body
  }

  return { signIn, exchangeIdToken, refresh, signOut };
}

const emailNotConfirmed = () => unauthorized('Confirm your e-mail address first.', 'email_not_confirmed');
