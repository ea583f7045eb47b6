import { type CallOptions, signalOf } from './call.ts';
import { loaded } from './loaded.ts';
import type { AppleCode } from './revoke-apple.ts';
import type { DeviceSession } from './session.ts';
import { type Accounts, createSignIn, passingSession, type SignIn } from './sign-in.ts';
import type { User } from './stored-session.ts';

type Options = Omit<Accounts, 'recovery'> & {
  /** Removes everything in the store that belongs to the user, except the session. */
  forget: (userId: string) => Promise<void>;
  /** Sends unsent plays and positions before a session ends. */
  sendLast: (sender: DeviceSession, options?: CallOptions) => Promise<unknown>;
};

/** Time limit of `sendLast`, so that a slow network does not delay the sign-out at the service. */
const lastLimitMs = 5_000;

/** Calls for accounts and for the user who is signed in on this device. */
export interface Auth extends ReturnType<typeof createAuth> {}

export function createAuth(options: Options) {
  const accounts: Accounts = { ...options, recovery: null };
  const signIns = createSignIn(accounts);
  return {
    /** Returns the user who is signed in on this device, or null. Reads only the store. */
    async user(): Promise<User | null> {
      return (await accounts.session.load())?.user ?? null;
    },

    /** Lets people listen without an account. Returns the user of this device, or makes a guest if there is none. */
    async continueAsGuest(options?: CallOptions): Promise<User> {
      return (await loaded(import('./guests.ts'))).continueAsGuest(accounts, options);
    },

    ...signIns,
    ...createPassword(accounts, signIns.signIn),
    ...createSignOut(accounts, options),
  };
}

function createPassword(accounts: Accounts, signIn: SignIn) {
  return {
    /**
     * Sets a new password after a mailed code, or with `currentPassword`. In the second case it signs in again first,
     * because the service requires a sign-in within the last 15 minutes. Ends all other sessions.
     */
    async setPassword(
      passwords: { password: string; currentPassword?: string | undefined },
      options?: CallOptions,
    ): Promise<void> {
      await (await loaded(import('./own-account.ts'))).setPassword(accounts, signIn, passwords, options);
    },
  };
}

function createSignOut(accounts: Accounts, { forget, sendLast }: Options) {
  const { session } = accounts;
  return {
    /**
     * Signs out on this device at once. Resolves when the service has ended the session, or when it cannot be reached.
     * You need not await it. Changes that could not be sent stay on the device until the user signs in again.
     */
    async signOut(options?: CallOptions): Promise<void> {
      accounts.recovery = null;
      const ended = await session.end('asked');
      if (!ended) return;
      const passing = passingSession(accounts);
      await passing.begin(ended);
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), lastLimitMs);
      await sendLast(passing, controller);
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
      return (await loaded(import('./own-account.ts'))).deleteAccount(accounts, forget, apple, options);
    },
  };
}
