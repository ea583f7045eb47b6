import { Tokens, User } from '../../model/session.ts';
import { minimumDelay } from '../../shared/minimum-delay.ts';
import { withNewDeadlines } from '../../shared/request-context.ts';
import type { Auth } from './auth.ts';
import {
  type AuthCall,
  type AuthError,
  authErrorIn,
  expectAnswer,
  type Faults,
  invalidRequest,
  mapAuthError,
} from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { InPasswordQueue } from './password-queue.ts';
import { weakPassword } from './passwords.ts';

interface AccountBody {
  email: string;
  password: string;
  data: object;
}

/** Creates the sign-up with an address. Neither its response nor its time reveals whether the address has an account. */
function createAddressSignUp(call: AuthCall, inPasswordQueue: InPasswordQueue, settings: Auth['settings']) {
  /** Tells whether new accounts must confirm their address. False while Auth does not answer. */
  const mustConfirm = () =>
    withNewDeadlines(settings).then(
      (known) => !known.mailer_autoconfirm,
      () => false,
    );

  /** Signs in if an equal sign-up at another gateway was faster. @throws otherwise `thrown`, the error of the sign-up */
  async function signInInstead({ email, password }: AccountBody, ip: string, thrown: unknown): Promise<unknown> {
    if (!authErrorIn(thrown)?.isUserNotSaved) throw thrown;
    const signIn = () => call('token?grant_type=password', { ip, body: { email, password } });
    return await inPasswordQueue(ip, signIn).catch(() => {
      throw thrown;
    });
  }

  /** Creates an account at Auth. @returns null when its address must be confirmed first */
  async function createAccount(body: AccountBody, ip: string, onStart: () => void): Promise<Tokens | null> {
    const signUp = () => {
      onStart();
      return call('signup', { ip, body });
    };
    const answer = await inPasswordQueue(ip, signUp).catch((thrown: unknown) => signInInstead(body, ip, thrown));
    const account = expectAnswer(Tokens.or(User), answer);
    return 'access_token' in account ? account : null;
  }

  /** Tells whether an error occurs only without a confirmed account, so that a response of its own would reveal that. */
  async function isSecret(error: AuthError | undefined): Promise<boolean> {
    if (error?.code === 'over_email_send_rate_limit') return true;
    return error?.status === 500 && error.code === 'unexpected_failure' && (await mustConfirm());
  }

  return async (body: AccountBody, ip: string, noMail: (why: object) => void): Promise<Tokens | null> => {
    const started = Promise.withResolvers<void>();
    const due = started.promise.then(minimumDelay);
    const created = createAccount(body, ip, started.resolve).catch(async (thrown: unknown) => {
      const error = authErrorIn(thrown);
      if (!(await isSecret(error))) throw thrown;
      noMail({ reason: error?.code });
      return null;
    });
    // Stops waiting when the time is due, unless the response is a session, because mails for new accounts take longer.
    const inTime = due.then(async () => ((await mustConfirm()) ? null : created));
    const tokens = await Promise.race([created, inTime]);
    if (tokens === null) {
      created.catch((err: unknown) => noMail({ err }));
      await due;
    }
    return tokens;
  };
}

export function createSignUp(
  call: AuthCall,
  inPasswordQueue: InPasswordQueue,
  settings: Auth['settings'],
): Pick<Auth, 'signUp' | 'signUpGuest'> {
  const share = shareInFlight();
  const signUpAddress = createAddressSignUp(call, inPasswordQueue, settings);

  return {
    signUp({ email, password, fullName }, ip, noMail) {
      const body = { email, password, data: fullName === undefined ? {} : { full_name: fullName } };
      const ask = () => signUpAddress(body, ip, noMail);
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
