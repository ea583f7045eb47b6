import { type CallOptions, dataOf, signalOf } from './call.ts';
import type { Schema } from './schema.ts';
import type { Waiting } from './send.ts';
import { createSession, type DeviceSession, tokenlessClient } from './session.ts';
import { memoryStore } from './store.ts';
import { toSession, type User, userOf } from './stored-session.ts';

type Answer = Schema<'Session'>;

/** A mailed code for a sign-up or a forgotten password, and the fields sent with it. */
export type MailedCode =
  | { type: 'signup'; email: string; code: string; password: string; fullName?: string | undefined }
  | { type: 'recovery'; email: string; code: string };

/** Parts that the calls for accounts share. */
export interface Accounts {
  url: string;
  waiting: Waiting;
  session: DeviceSession;
  /** Session that a recovery code has opened, until the new password is set. */
  recovery: DeviceSession | null;
}

/** Creates a session in memory, for calls that are not made with the session of the device. */
export const passingSession = ({ url, waiting }: Accounts) => createSession({ url, store: memoryStore(), waiting });

export type SignIn = ReturnType<typeof createSignIn>['signIn'];

export function createSignIn(accounts: Accounts) {
  const { url, waiting, session } = accounts;
  const tokenless = tokenlessClient(url, waiting);
  /** Sends calls that must not take effect twice. */
  const once = tokenlessClient(url, waiting, false);

  async function begin(tokens: Answer): Promise<User> {
    accounts.recovery = null;
    const user = userOf(tokens.user);
    await session.begin(toSession(tokens, user));
    return user;
  }

  return {
    /**
     * Creates an account and signs in. If `needsEmailConfirmation` is true, ask for the mailed code and call `verify`.
     */
    async signUp(
      { email, password, fullName }: { email: string; password: string; fullName?: string | undefined },
      options?: CallOptions,
    ): Promise<{ needsEmailConfirmation: boolean; user: User }> {
      const body = { email, password, ...(fullName !== undefined && { full_name: fullName }) };
      const data = await dataOf(once.POST('/auth/signup', { body, ...signalOf(options) }));
      const needsEmailConfirmation = data.needs_email_confirmation === true;
      if (!needsEmailConfirmation) await begin(data as Answer);
      return { needsEmailConfirmation, user: data.user };
    },

    /** Signs in with e-mail address and password. */
    async signIn(body: { email: string; password: string }, options?: CallOptions): Promise<User> {
      return begin(await dataOf(tokenless.POST('/auth/signin', { body, ...signalOf(options) })));
    },

    /** Signs in with an ID token of Google or Apple, and the nonce whose hash was passed to their SDK. */
    async signInWithIdToken(
      { idToken, nonce }: { idToken: string; nonce?: string | undefined },
      options?: CallOptions,
    ): Promise<User> {
      const body = { id_token: idToken, ...(nonce !== undefined && { nonce }) };
      return begin(await dataOf(tokenless.POST('/auth/oauth/idp', { body, ...signalOf(options) })));
    },

    /**
     * Checks a mailed code. `signup` sets the given password and name and signs in. After `recovery`, call
     * `setPassword`, which signs in; if the program ends before that, the user needs a new code.
     */
    async verify(code: MailedCode, options?: CallOptions): Promise<User> {
      const { fullName, ...rest } = { fullName: undefined, ...code };
      const body = { ...rest, ...(fullName !== undefined && { full_name: fullName }) };
      const data = await dataOf(once.POST('/auth/verify', { body, ...signalOf(options) }));
      if (code.type === 'signup') return begin(data);
      accounts.recovery = passingSession(accounts);
      await accounts.recovery.begin(toSession(data, data.user));
      return data.user;
    },

    /** Mails a code for a forgotten password, if the account exists. */
    async recover(body: { email: string }, options?: CallOptions): Promise<void> {
      await tokenless.POST('/auth/recover', { body, ...signalOf(options) });
    },

    /** Mails a new code for a sign-up, if the account is not confirmed yet. */
    async resend(body: { email: string }, options?: CallOptions): Promise<void> {
      await tokenless.POST('/auth/resend', { body, ...signalOf(options) });
    },
  };
}
