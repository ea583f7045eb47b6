import createClient from 'openapi-fetch';
import { answer, type CallOptions, signalOf } from './call.ts';
import type { paths } from './document.types.ts';
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

/** What is sent with a mailed code, after a sign-up or for a forgotten password. */
export type MailedCode =
  | { type: 'signup'; email: string; code: string; password: string; fullName?: string | undefined }
  | { type: 'recovery'; email: string; code: string };

type Options = Pick<SessionOptions, 'url' | 'waiting'> & {
  session: DeviceSession;
  /** Removes what the store keeps of a user besides the session. */
  forget: (userId: string) => Promise<void>;
};

/** Accounts, and who is signed in on this device. */
export interface Auth extends ReturnType<typeof createAuth> {}

export function createAuth({ url, waiting, session, forget }: Options) {
  const guest = guestClient(url, { repeatable: true, ...waiting });
  /** For what may have happened although no answer came, and must not happen twice. */
  const once = guestClient(url, { repeatable: false, ...waiting });

  const clientOf = (fetch: DeviceSession['fetch']) =>
    createClient<paths>({ baseUrl: url, fetch: (request) => fetch(request) });

  const passingSession = () => createSession({ url, store: memoryStore(), waiting, onSession: () => {} });

  /** Sends with a session, and tells whether it may have been done by an attempt whose answer was lost. */
  function repeating(sender: DeviceSession, userId?: string) {
    let mayBeDone = false;
    const onRepeat = ({ code }: SoundsError) => {
      mayBeDone ||= code !== 'rate_limited';
    };
    const fetch = (request: Request) => sender.fetch(request, { userId, onRepeat });
    return { fetch, mayBeDone: () => mayBeDone };
  }

  /** The session of a mailed code, until the new password is set. */
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
    /** Who is signed in on this device; null when nobody is. Asks the store alone. */
    async user(): Promise<User | null> {
      return (await session.load())?.user ?? null;
    },

    /**
     * Creates an account. It is not signed in yet when `needsEmailConfirmation` is true: ask for the mailed code, and
     * `verify` it.
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

    /** Signs in. */
    signIn,

    /** Signs in with an ID token of Google or Apple, and the nonce whose hash its SDK was given. */
    async signInWithIdToken(
      { idToken, nonce }: { idToken: string; nonce?: string | undefined },
      options?: CallOptions,
    ): Promise<User> {
      const body = { id_token: idToken, ...(nonce !== undefined && { nonce }) };
      return begin((await answer(guest.POST('/auth/oauth/idp', { body, ...signalOf(options) }))).data);
    },

    /**
     * Takes a mailed code. With `signup` the user is signed in then, and password and name are those that are given here.
     * With `recovery`, call `setPassword` next: until then nobody is signed in, and a program that ends has to start again.
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

    /** Mails a code for a forgotten password, if there is such an account. */
    async recover(body: { email: string }, options?: CallOptions): Promise<void> {
      await guest.POST('/auth/recover', { body, ...signalOf(options) });
    },

    /** Mails the code of a sign-up again, if the account is not confirmed yet. */
    async resend(body: { email: string }, options?: CallOptions): Promise<void> {
      await guest.POST('/auth/resend', { body, ...signalOf(options) });
    },

    /**
     * Sets a new password: after a code; or, with the current one, for the user who is signed in, who signs in again with that
     * first, since the service asks for a sign-in within the last 15 minutes. All other sessions end.
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
        // It is this one already: it was the answer that had been lost.
        if (!(sending.mayBeDone() && error instanceof SoundsError && error.reason === 'same_password'))
          throw error;
      }
      const recovered = await recovering?.load();
      if (!recovered) return;
      recovery = null;
      await session.begin(recovered);
    },

    /**
     * Signs out on this device, at once and whatever comes of it. Resolves when the service knows, or cannot be told:
     * there is no need to wait for that.
     */
    async signOut(options?: CallOptions): Promise<void> {
      recovery = null;
      const ended = await session.end('asked');
      if (!ended) return;
      const passing = passingSession();
      await passing.begin(ended);
      await clientOf(passing.fetch)
        .POST('/auth/signout', signalOf(options))
        .catch(() => {});
    },

    /** Deletes the account for good. The service asks for a sign-in within the last 15 minutes. */
    async deleteAccount(options?: CallOptions): Promise<void> {
      const user = (await session.load())?.user;
      const sending = repeating(session, user?.id);
      try {
        await clientOf(sending.fetch).DELETE('/me', signalOf(options));
      } catch (error) {
        // Rejected now, and the session over, too: it was the answer that had been lost.
        const isOver = (await session.load()) === null;
        if (!(sending.mayBeDone() && isOver && error instanceof SoundsError && error.code === 'unauthorized'))
          throw error;
      }
      await session.end('deleted');
      if (user) await forget(user.id);
    },
  };
}
