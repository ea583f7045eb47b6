import { type CallOptions, signalOf } from './call.ts';
import { SoundsError } from './error.ts';
import type { AppleCode } from './revoke-apple.ts';
import type { DeviceSession } from './session.ts';
import { type Accounts, createSignIn, passingSession } from './sign-in.ts';
import type { User } from './stored-session.ts';

type Options = Omit<Accounts, 'recovery'> & {
  /** Removes everything in the store that belongs to the user, except the session. */
  forget: (userId: string) => Promise<void>;
  /** Sends unsent plays and positions before a session ends. */
  sendLast: (sender: DeviceSession, options?: CallOptions) => Promise<unknown>;
};

/** Time limit of `sendLast`, because the session should end soon. */
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
    ...signIns,
    ...createPassword(accounts, signIns.signIn),
    ...createSignOut(accounts, options),
  };
}

/** Sends with a session. `mayBeDone` returns true if an attempt may have succeeded although its response was lost. */
function repeating(sender: DeviceSession, userId?: string) {
  let mayBeDone = false;
  const onRepeat = ({ code }: SoundsError) => {
    mayBeDone ||= code !== 'rate_limited';
  };
  return { api: sender.api({ userId, onRepeat }), mayBeDone: () => mayBeDone };
}

type SignIn = ReturnType<typeof createSignIn>['signIn'];

function createPassword(accounts: Accounts, signIn: SignIn) {
  return {
    /**
     * Sets a new password after a mailed code, or with `currentPassword`. In the second case it signs in again first,
     * because the service requires a sign-in within the last 15 minutes. Ends all other sessions.
     */
    async setPassword(
      { password, currentPassword }: { password: string; currentPassword?: string | undefined },
      options?: CallOptions,
    ): Promise<void> {
      const { session, recovery } = accounts;
      const email = (await session.load())?.user.email;
      if (!recovery && currentPassword !== undefined && email)
        await signIn({ email, password: currentPassword }, options);
      const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
      const { api, mayBeDone } = repeating(recovery ?? session);
      try {
        await api.POST('/auth/password', { body, ...signalOf(options) });
      } catch (error) {
        // `same_password` after a lost response means that the password was set.
        if (!(mayBeDone() && error instanceof SoundsError && error.reason === 'same_password')) throw error;
      }
      const recovered = await recovery?.load();
      if (!recovered) return;
      accounts.recovery = null;
      await session.begin(recovered);
    },
  };
}

function createSignOut(accounts: Accounts, { forget, sendLast }: Options) {
  const { session } = accounts;
  return {
    /**
     * Signs out on this device at once. Resolves when the service has ended the session, or when it cannot be reached.
     * You need not await it. Changes that cannot be sent before stay for the next sign-in of the user.
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
     * it first revokes the user's tokens at Apple, and deletes the account whatever comes of that.
     * @returns whether the tokens are revoked
     */
    async deleteAccount(apple: AppleCode = {}, options?: CallOptions): Promise<{ appleRevoked: boolean }> {
      const user = (await session.load())?.user;
      // A separate module keeps apps without it small.
      const revocation = apple.appleAuthorizationCode && (await import('./revoke-apple.ts').catch(() => null));
      const appleRevoked = !!revocation && (await revocation.revokeApple(session, user?.id, apple, options));
      const { api, mayBeDone } = repeating(session, user?.id);
      try {
        await api.DELETE('/me', signalOf(options));
      } catch (error) {
        // A 401 after a lost response means that the account was deleted, if its session has ended.
        const isOver = (await session.load()) === null;
        if (!(mayBeDone() && isOver && error instanceof SoundsError && error.code === 'unauthorized')) throw error;
      }
      await session.end('deleted');
      if (user) await forget(user.id);
      return { appleRevoked };
    },
  };
}
