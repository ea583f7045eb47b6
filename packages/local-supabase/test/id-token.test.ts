import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { signInWith, test } from './identities.ts';
import { signIn } from './sessions.ts';
import { newEmail, password } from './supabase.ts';

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
    const signUp = await supabase.call('/auth/v1/signup', { body: { email, password } });
    expect([signUp.status, signUp.body.code]).toEqual([422, 'user_already_exists']);
  });
});
