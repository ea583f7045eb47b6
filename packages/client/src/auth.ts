import { createApi } from './api.ts';
import { answer, type CallOptions, signalOf } from './call.ts';
import { SoundsError } from './error.ts';
import type { Schema } from './schema.ts';
import {
  createSession,
  type DeviceSession,
  guestClient,
  type SessionOptions,
  toSession,
  type User,
} from './session.ts';
import { memoryStore } from './store.ts';

type Answer = Schema<'Session'>;

/** A mailed code for a sign-up or a forgotten password, and the fields sent with it. */
export type MailedCode =
  | { type: 'signup'; email: string; code: string; password: string; fullName?: string | undefined }
  | { type: 'recovery'; email: string; code: string };

type Options = Pick<SessionOptions, 'url' | 'waiting'> & {
  session: DeviceSession;
  /** Removes everything in the store that belongs to the user, except the session. */
  forget: (userId: string) => Promise<void>;
  /** Sends unsent positions before a session ends. */
  sendLast: (sender: DeviceSession, options?: CallOptions) => Promise<void>;
};

/** Time limit of `sendLast`, because the session should end soon. */
const lastLimitMs = 5_000;

/** Calls for accounts and for the user who is signed in on this device. */
export interface Auth extends ReturnType<typeof createAuth> {}

export function createAuth({ url, waiting, session, forget, sendLast }: Options) {
  const guest = guestClient(url, { repeatable: true, ...waiting });
  /** Sends calls that must not take effect twice. */
  const once = guestClient(url, { repeatable: false, ...waiting });

  const clientOf = (fetch: DeviceSession['fetch']) => createApi(url, (request) => fetch(request));

  const passingSession = () => createSession({ url, store: memoryStore(), waiting });

  /** Sends with a session. `mayBeDone` returns true if an attempt may have succeeded although its response was lost. */
  function repeating(sender: DeviceSession, userId?: string) {
    let mayBeDone = false;
    const onRepeat = ({ code }: SoundsError) => {
      mayBeDone ||= code !== 'rate_limited';
    };
    const fetch = (request: Request) => sender.fetch(request, { userId, onRepeat });
    return { fetch, mayBeDone: () => mayBeDone };
  }

  /** Session that a recovery code has opened, until the new password is set. */
  let recovery: DeviceSession | null = null;

  async function begin(tokens: Answer): Promise<User> {
    recovery = null;
    await session.begin(toSession(tokens, tokens.user));
    return tokens.user;
  }

  async function signIn(body: { email: string; password: string }, options?: CallOptions): Promise<User> {
    return begin((await answer(guest.POST('/auth/signin', { body, ...signalOf(options) }))).data);
  }

  return {
    /** Returns the user who is signed in on this device, or null. Reads only the store. */
    async user(): Promise<User | null> {
      return (await session.load())?.user ?? null;
    },

    /**
     * Creates an account and signs in. If `needsEmailConfirmation` is true, ask for the mailed code and call `verify`.
     */
    async signUp(
      { email, password, fullName }: { email: string; password: string; fullName?: string | undefined },
      options?: CallOptions,
    ): Promise<{ needsEmailConfirmation: boolean; user: User }> {
      const body = { email, password, ...(fullName !== undefined && { full_name: fullName }) };
      const { data } = await answer(once.POST('/auth/signup', { body, ...signalOf(options) }));
      const needsEmailConfirmation = data.needs_email_confirmation === true;
      if (!needsEmailConfirmation) await begin(data as Answer);
      return { needsEmailConfirmation, user: data.user };
    },

    /** Signs in with e-mail address and password. */
    signIn,

    /** Signs in with an ID token of Google or Apple, and the nonce whose hash was passed to their SDK. */
    async signInWithIdToken(
      { idToken, nonce }: { idToken: string; nonce?: string | undefined },
      options?: CallOptions,
    ): Promise<User> {
      const body = { id_token: idToken, ...(nonce !== undefined && { nonce }) };
      return begin((await answer(guest.POST('/auth/oauth/idp', { body, ...signalOf(options) }))).data);
    },

    /**
     * Checks a mailed code. `signup` sets the given password and name and signs in. After `recovery`, call
     * `setPassword`, which signs in; if the program ends before that, the user needs a new code.
     */
    async verify(code: MailedCode, options?: CallOptions): Promise<User> {
      const { fullName, ...rest } = { fullName: undefined, ...code };
      const body = { ...rest, ...(fullName !== undefined && { full_name: fullName }) };
      const { data } = await answer(once.POST('/auth/verify', { body, ...signalOf(options) }));
      if (code.type === 'signup') return begin(data);
      recovery = passingSession();
      await recovery.begin(toSession(data, data.user));
      return data.user;
    },

    /** Mails a code for a forgotten password, if the account exists. */
    async recover(body: { email: string }, options?: CallOptions): Promise<void> {
      await guest.POST('/auth/recover', { body, ...signalOf(options) });
    },

    /** Mails a new code for a sign-up, if the account is not confirmed yet. */
    async resend(body: { email: string }, options?: CallOptions): Promise<void> {
      await guest.POST('/auth/resend', { body, ...signalOf(options) });
    },

    /**
     * Sets a new password after a mailed code, or with `currentPassword`. In the second case it signs in again first,
     * because the service requires a sign-in within the last 15 minutes. Ends all other sessions.
     */
    async setPassword(
      { password, currentPassword }: { password: string; currentPassword?: string | undefined },
      options?: CallOptions,
    ): Promise<void> {
      const recovering = recovery;
      const email = (await session.load())?.user.email;
      if (!recovering && currentPassword !== undefined && email)
        await signIn({ email, password: currentPassword }, options);
      const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
      const sending = repeating(recovering ?? session);
      try {
        await clientOf(sending.fetch).POST('/auth/password', { body, ...signalOf(options) });
      } catch (error) {
        // `same_password` after a lost response means that the password was set.
        if (!(sending.mayBeDone() && error instanceof SoundsError && error.reason === 'same_password')) throw error;
      }
      const recovered = await recovering?.load();
      if (!recovered) return;
      recovery = null;
      await session.begin(recovered);
    },

    /**
     * Signs out on this device at once. Resolves when the service has ended the session, or when it cannot be reached.
     * You need not await it.
     */
    async signOut(options?: CallOptions): Promise<void> {
      recovery = null;
      const ended = await session.end('asked');
      if (!ended) return;
      const passing = passingSession();
      await passing.begin(ended);
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), lastLimitMs);
      await sendLast(passing, controller).catch(() => {});
      clearTimeout(timer);
      await clientOf(passing.fetch)
        .POST('/auth/signout', signalOf(options))
        .catch(() => {});
    },

    /** Deletes the account permanently. The service requires a sign-in within the last 15 minutes. */
    async deleteAccount(options?: CallOptions): Promise<void> {
      const user = (await session.load())?.user;
      const sending = repeating(session, user?.id);
      try {
        await clientOf(sending.fetch).DELETE('/me', signalOf(options));
      } catch (error) {
        // A 401 after a lost response means that the account was deleted, if its session has ended.
        const isOver = (await session.load()) === null;
        if (!(sending.mayBeDone() && isOver && error instanceof SoundsError && error.code === 'unauthorized'))
          throw error;
      }
      await session.end('deleted');
      if (user) await forget(user.id);
    },
  };
}
