import { z } from 'zod';
import { tokenRejected, unauthorized } from '../../errors.ts';
import { isRefreshToken, nfc, Tokens } from '../../model/session.ts';
import { minimumDelay } from '../../shared/minimum-delay.ts';
import type { Auth } from './auth.ts';
import { type AuthCall, AuthError, expectAnswer, mapAuthError } from './call.ts';
import { shareInFlight } from './in-flight.ts';
import { type InPasswordQueue, priorities } from './password-queue.ts';

/**
 * Codes of Auth that get the same 401. A separate error for unconfirmed addresses would reveal accounts, because anyone
 * can sign up with an address and a password, and then sign in with them.
 */
const wrongCredentials = ['invalid_credentials', 'email_not_confirmed', 'user_banned', 'validation_failed'];

const sessionEnded = () =>
  unauthorized('The refresh token is invalid or was already used. Sign in again.', 'session_ended');

/** Creates the sign-in with a password. It takes the same time for a wrong address and a wrong password. */
function createSignIn(call: AuthCall, inPasswordQueue: InPasswordQueue): Auth['signIn'] {
  return async (credentials, ip, { isBeyondLimit = false, ...options } = {}) => {
    let failureDue: Promise<void> | undefined;
    const ask = () => {
      failureDue = minimumDelay();
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
    const priority = isBeyondLimit ? priorities.trustedSignIn : 0;
    const tokens = await inPasswordQueue(ip, ask, { priority, ...options })
      .catch(async (thrown: unknown) => {
        await (failureDue ?? minimumDelay()); // a call that never started has no time yet
        throw thrown;
      })
      .catch(
        mapAuthError(({ code }) => {
          if (code === 'email_provider_disabled')
            return unauthorized('Signing in with an e-mail address is switched off.', 'sign_in_disabled');
          return wrongCredentials.includes(code)
            ? unauthorized('The e-mail address or the password is wrong.', 'invalid_credentials')
            : undefined;
        }),
      );
    return expectAnswer(Tokens, tokens);
  };
}

export function createSessions(
  call: AuthCall,
  inPasswordQueue: InPasswordQueue,
): Pick<Auth, 'signIn' | 'exchangeIdToken' | 'refresh' | 'signOut'> {
  const share = shareInFlight();

  return {
    signIn: createSignIn(call, inPasswordQueue),

    async exchangeIdToken({ provider, idToken, nonce }, ip) {
      const body = { provider, id_token: idToken, ...(nonce !== undefined && { nonce }) };
      const ask = () => call('token?grant_type=id_token', { ip, body });
      const answer = await share(['id_token', body], ask).catch(
        mapAuthError(({ status, code }) => {
          if (code === 'provider_email_needs_verification')
            return unauthorized('Confirm your e-mail address first.', 'email_not_confirmed');
          return [400, 403, 422].includes(status)
            ? unauthorized('The ID token was not accepted.', 'id_token_refused')
            : undefined;
        }),
      );
      return expectAnswer(Tokens, answer);
    },

    async refresh(refreshToken, ip) {
      if (!isRefreshToken(refreshToken)) throw sessionEnded();
      const body = { refresh_token: refreshToken };
      const ask = () => call('token?grant_type=refresh_token', { ip, body });
      // 400 and 403 are about the token. 401 and 404 mean a wrong key or address of the gateway: sessions must not end.
      const answer = await share(['refresh', body], ask).catch(
        mapAuthError(({ status }) => (status === 400 || status === 403 ? sessionEnded() : undefined)),
      );
      return expectAnswer(Tokens, answer);
    },

    async signOut(accessToken, ip) {
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
    },
  };
}
