import type { Accounts } from './accounts.ts';
import { type CallOptions, dataOf, signalOf } from './call.ts';
import type { Schema } from './schema.ts';
import { tokenlessClient } from './session.ts';
import { toSession, type User, userOf } from './stored-session.ts';

type Answer = Schema<'Session'>;

/** A mailed code for a sign-up or a forgotten password, and the fields sent with it. */
export type MailedCode =
  | { type: 'signup'; email: string; code: string; password: string; fullName?: string | undefined }
  | { type: 'recovery'; email: string; code: string };

/** A new account. */
export interface NewAccount {
  email: string;
  password: string;
  fullName?: string | undefined;
}

/** An ID token of Google or Apple, and the nonce whose hash was passed to their SDK. */
export interface IdToken {
  idToken: string;
  nonce?: string | undefined;
}

/** Creates the calls of `auth` that lead to a session. */
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
    async signUp({ email, password, fullName }: NewAccount, options?: CallOptions) {
      const body = { email, password, ...(fullName !== undefined && { full_name: fullName }) };
      const data = await dataOf(once.POST('/auth/signup', { body, ...signalOf(options) }));
      const needsEmailConfirmation = data.needs_email_confirmation === true;
      if (!needsEmailConfirmation) await begin(data as Answer);
      return { needsEmailConfirmation, user: data.user };
    },

    async signIn(body: { email: string; password: string }, options?: CallOptions): Promise<User> {
      return begin(await dataOf(tokenless.POST('/auth/signin', { body, ...signalOf(options) })));
    },

    async signInWithIdToken({ idToken, nonce }: IdToken, options?: CallOptions): Promise<User> {
      const body = { id_token: idToken, ...(nonce !== undefined && { nonce }) };
      return begin(await dataOf(tokenless.POST('/auth/oauth/idp', { body, ...signalOf(options) })));
    },

    async verify(code: MailedCode, options?: CallOptions): Promise<User> {
      const { fullName, ...rest } = { fullName: undefined, ...code };
      const body = { ...rest, ...(fullName !== undefined && { full_name: fullName }) };
      const data = await dataOf(once.POST('/auth/verify', { body, ...signalOf(options) }));
      if (code.type === 'signup') return begin(data);
      accounts.recovery = accounts.passingSession();
      await accounts.recovery.begin(toSession(data, data.user));
      return data.user;
    },

    async recover(body: { email: string }, options?: CallOptions): Promise<void> {
      await tokenless.POST('/auth/recover', { body, ...signalOf(options) });
    },

    async resend(body: { email: string }, options?: CallOptions): Promise<void> {
      await tokenless.POST('/auth/resend', { body, ...signalOf(options) });
    },
  };
}
