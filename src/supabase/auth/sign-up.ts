import { Tokens, User } from '../../model/session.ts';
import { minimumDelay } from '../../shared/minimum-delay.ts';
import { withNewDeadlines } from '../../shared/request-context.ts';
import type { Auth } from './auth.ts';
import { type AuthCall, authErrorIn, expectAnswer, type Faults, invalidRequest, mapAuthError } from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { PasswordQueue } from './password-queue.ts';

export function createSignUp(
  call: AuthCall,
  inPasswordQueue: PasswordQueue,
  settings: Auth['settings'],
): Pick<Auth, 'signUp' | 'signUpGuest'> {
  const share = shareInFlight();

  /** Creates an account at Auth. @returns null when its address must be confirmed first */
  async function askForAccount(
    body: { email: string; password: string; data: object },
    ip: string,
    noMail: (why: object) => void,
  ): Promise<Tokens | null> {
    const { email, password } = body;
    const started = Promise.withResolvers<void>();
    const answer = inPasswordQueue(ip, () => {
      started.resolve();
      return call('signup', { ip, body });
    });
    const due = started.promise.then(minimumDelay);
    const made = answer.catch((thrown: unknown) => {
      if (!authErrorIn(thrown)?.isUserNotSaved) throw thrown;
      // Signs in, because an equal sign-up at another gateway was faster.
      const signIn = () => call('token?grant_type=password', { ip, body: { email, password } });
      return inPasswordQueue(ip, signIn).catch(() => {
        throw thrown;
      });
    });
    const mustConfirm = () =>
      withNewDeadlines(settings).then(
        (known) => !known.mailer_autoconfirm,
        () => false,
      );
    const asked = made.then(
      (account) => {
        const tokens = expectAnswer(Tokens.or(User), account);
        return 'access_token' in tokens ? tokens : null;
      },
      async (thrown: unknown) => {
        // Answers these errors like success: they occur only without a confirmed account, and would reveal that.
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

  return {
    signUp({ email, password, fullName }, ip, noMail) {
      const body = { email, password, data: fullName === undefined ? {} : { full_name: fullName } };
      const ask = () => askForAccount(body, ip, noMail);
      return share(['signup', body], ask).catch(mapAuthError(({ code }) => signUpFaults[code]?.()));
    },

    async signUpGuest(ip) {
      try {
        return expectAnswer(Tokens, await call('signup', { ip, body: {} }));
      } catch (thrown) {
        const { code = '' } = authErrorIn(thrown) ?? {};
        if (code === 'anonymous_provider_disabled' || code === 'signup_disabled') return null;
        return mapAuthError(() => undefined)(thrown);
      }
    },
  };
}

/** Returns the error for a password that Auth finds too weak, at sign-up and later. */
export const weakPassword = () =>
  invalidRequest(
    'password: too easy to guess. Choose a longer one with different kinds of characters.',
    'password',
    'weak_password',
  );

const addressTaken = () => invalidRequest('This e-mail address cannot be used to sign up.', 'email', 'address_taken');
const noMail = () => invalidRequest('email: this address cannot receive mail.', 'email');
const disabled = (message: string) => () => invalidRequest(message, undefined, 'sign_up_disabled');

const signUpFaults: Faults = {
  user_already_exists: addressTaken,
  email_exists: addressTaken,
  email_address_invalid: noMail,
  email_address_not_authorized: noMail,
  validation_failed: () => invalidRequest('The e-mail address or the password was not accepted.'),
  weak_password: weakPassword,
  signup_disabled: disabled('Sign-up is switched off.'),
  email_provider_disabled: disabled('Sign-up with an e-mail address is switched off.'),
};
