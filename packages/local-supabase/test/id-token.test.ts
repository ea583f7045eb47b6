import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { makeIdToken } from '../src/identity-provider.ts';
import { exchange, signIn, signInWith } from './sessions.ts';
import {
  codeOf,
  testWithConfirmations as confirming,
  newEmail,
  password,
  type Supabase,
  test,
} from './supabase.ts';

async function signUpUnconfirmed(supabase: Supabase, email: string): Promise<string> {
  const data = { full_name: 'Eve', colour: 'red' };
  const { status, body } = await supabase.call('/auth/v1/signup', { body: { email, password, data } });
  expect(status).toBe(200);
  return body.id;
}

// A real project trusts Google and Apple alone, so nothing here can be asked of one.
describe.runIf(inject('stack').embedded)('sign-in with an ID token', () => {
  test('an unverified address opens its account if confirmations are off', async ({ supabase }) => {
    const { id, email } = await supabase.signUp();
    const { user } = await signInWith(supabase, { email, emailVerified: false });
    expect([user.id, user.app_metadata.providers]).toEqual([id, ['email', 'google']]);
  });

  test('an ID token without an address creates a user without one', async ({ supabase }) => {
    for (const provider of ['google', 'apple'] as const) {
      const { user } = await signInWith(supabase, { provider, sub: randomUUID() });
      expect(user).toMatchObject({ email: '', app_metadata: { provider } });
    }
  });

  test('an account of an ID token cannot be opened by password', async ({ supabase }) => {
    const email = newEmail();
    await signInWith(supabase, { email });
    for (const secret of [password, '']) {
      expect((await signIn(supabase, email, secret)).body.code).toBe('invalid_credentials');
    }
    const signUp = supabase.call('/auth/v1/signup', { body: { email, password } });
    expect(await codeOf(signUp)).toBe('422 user_already_exists');
  });

  confirming('a verified address takes over an account that was never confirmed', async ({ supabase }) => {
    for (const provider of ['google', 'apple'] as const) {
      const email = newEmail();
      const id = await signUpUnconfirmed(supabase, email);
      const { user } = await signInWith(supabase, { provider, email });
      expect(user).toMatchObject({
        id,
        email_confirmed_at: expect.any(String),
        app_metadata: { provider, providers: [provider] },
        identities: [{ provider }],
      });
      expect(user.identities).toHaveLength(1);
      expect(user.user_metadata).toMatchObject({ email, email_verified: true });
      for (const given of ['full_name', 'colour']) expect(user.user_metadata).not.toHaveProperty(given);
      expect((await signIn(supabase, email)).body.code).toBe('invalid_credentials');
      const [row] = await supabase.sql`
        select encrypted_password, confirmation_token from auth.users where id = ${id}`;
      expect(row).toEqual({ encrypted_password: null, confirmation_token: null });
    }
  });

  confirming('a verified address keeps the password of a confirmed account', async ({ supabase }) => {
    const email = newEmail();
    const id = await signUpUnconfirmed(supabase, email);
    await supabase.sql`update auth.users set email_confirmed_at = now() where id = ${id}`;
    const { user } = await signInWith(supabase, { email, name: 'Ada' });
    expect(user).toMatchObject({ id, user_metadata: { name: 'Ada', colour: 'red' } });
    expect((await signIn(supabase, email)).status).toBe(200);
  });

  confirming('an unverified address gets no session before it is confirmed', async ({ supabase }) => {
    const email = newEmail();
    const token = await makeIdToken({ email, emailVerified: false });
    expect(await codeOf(exchange(supabase, token))).toBe('422 provider_email_needs_verification');
    const [row] = await supabase.sql`
      update auth.users set email_confirmed_at = now() where email = ${email}
      returning id, confirmation_sent_at is not null as mailed`;
    expect(row).toEqual({ id: expect.any(String), mailed: true });
    const again = await exchange(supabase, token);
    expect([again.status, again.body.user.id]).toEqual([200, row?.['id']]);
  });

  confirming('an unverified address does not open the account that has it', async ({ supabase }) => {
    const email = newEmail();
    const owner = (await signInWith(supabase, { email })).user.id;
    const sub = randomUUID();
    const token = await makeIdToken({ email, emailVerified: false, sub });
    expect(await codeOf(exchange(supabase, token))).toBe('422 provider_email_needs_verification');
    const [other] = await supabase.sql`
      select u.id, u.email from auth.users u join auth.identities i on i.user_id = u.id
      where i.provider_id = ${sub}`;
    expect(other).toEqual({ id: expect.any(String), email: null });
    expect(other?.['id']).not.toBe(owner);
    const identities = await supabase.sql`select from auth.identities where user_id = ${owner}`;
    expect(identities).toHaveLength(1);
  });
});
