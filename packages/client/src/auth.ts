import type { AccountOptions, Accounts } from './accounts.ts';
import { type CallOptions, signalOf } from './call.ts';
import { loaded } from './loaded.ts';
import type { NewPassword } from './own-account.ts';
import type { AppleCode } from './revoke-apple.ts';
import { createSession } from './session.ts';
import type { IdToken, MailedCode, NewAccount } from './sign-in.ts';
import { memoryStore } from './store.ts';
import type { User } from './stored-session.ts';

/** Time limit of `sendLast`, so that a slow network does not delay the sign-out at the service. */
const lastLimitMs = 5_000;

/** Calls for accounts and for the user who is signed in on this device. */
export interface Auth extends ReturnType<typeof createAuth> {}

export function createAuth(options: AccountOptions) {
  const { session, data } = options;
  const passingSession = () => createSession({ ...options, store: memoryStore() });
  const accounts: Accounts = { ...options, passingSession, recovery: null };
  const signIns = async () => (await loaded(import('./sign-in.ts'))).createSignIn(accounts);
  const ownAccount = () => loaded(import('./own-account.ts'));
  // Load what a sign-in needs while the app starts, because some browsers never load again what has failed once.
  const prepare = async () => void ((await session.load()) ?? (await signIns()));
  prepare().catch(() => {});

  return {
    /** Returns the user who is signed in on this device, or null. Reads only the store. */
    async user(): Promise<User | null> {
      return (await session.load())?.user ?? null;
    },

    /** Lets people listen without an account. Returns the user of this device, or makes a guest if there is none. */
    async continueAsGuest(options?: CallOptions): Promise<User> {
      return (await loaded(import('./guests.ts'))).continueAsGuest(accounts, options);
    },

    /**
     * Creates an account and signs in. If `needsEmailConfirmation` is true, ask for the mailed code and call `verify`.
     */
    async signUp(account: NewAccount, options?: CallOptions): Promise<{ needsEmailConfirmation: boolean; user: User }> {
      return (await signIns()).signUp(account, options);
    },

    /** Signs in with e-mail address and password. */
    async signIn(account: { email: string; password: string }, options?: CallOptions): Promise<User> {
      return (await signIns()).signIn(account, options);
    },

    /** Signs in with an ID token of Google or Apple, and the nonce whose hash was passed to their SDK. */
    async signInWithIdToken(token: IdToken, options?: CallOptions): Promise<User> {
      return (await signIns()).signInWithIdToken(token, options);
    },

    /**
     * Checks a mailed code. `signup` sets the given password and name and signs in. After `recovery`, call
     * `setPassword`, which signs in; if the program ends before that, the user needs a new code.
     */
    async verify(code: MailedCode, options?: CallOptions): Promise<User> {
      return (await signIns()).verify(code, options);
    },

    /** Mails a code for a forgotten password, if the account exists. */
    async recover(account: { email: string }, options?: CallOptions): Promise<void> {
      return (await signIns()).recover(account, options);
    },

    /** Mails a new code for a sign-up, if the account is not confirmed yet. */
    async resend(account: { email: string }, options?: CallOptions): Promise<void> {
      return (await signIns()).resend(account, options);
    },

    /**
     * Sets a new password after a mailed code, or with `currentPassword`. In the second case it signs in again first,
     * because the service requires a sign-in within the last 15 minutes. Ends all other sessions.
     */
    async setPassword(passwords: NewPassword, options?: CallOptions): Promise<void> {
      return (await ownAccount()).setPassword(accounts, passwords, options);
    },

    /**
     * Signs out on this device at once. Resolves when the service has ended the session, or when it cannot be reached.
     * You need not await it. Changes that could not be sent stay on the device until the user signs in again. A guest
     * never can, and loses everything, sent or not: ask before.
     */
    async signOut(options?: CallOptions): Promise<void> {
      accounts.recovery = null;
      const ended = await session.end('asked');
      if (!ended) return;
      const passing = passingSession();
      await passing.begin(ended);
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), lastLimitMs);
      await data.sendLast(passing, controller);
      clearTimeout(timer);
      await passing
        .api()
        .POST('/auth/signout', signalOf(options))
        .catch(() => {});
    },

    /**
     * Deletes the account permanently. The service requires a sign-in within the last 15 minutes. With a code of Apple,
     * it first revokes the user's tokens at Apple, and deletes the account even if that fails.
     * @returns whether the tokens are revoked
     */
    async deleteAccount(apple?: AppleCode, options?: CallOptions): Promise<{ appleRevoked: boolean }> {
      return (await ownAccount()).deleteAccount(accounts, apple, options);
    },
  };
}
