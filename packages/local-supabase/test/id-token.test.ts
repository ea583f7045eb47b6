import { randomUUID } from 'node:crypto';
import { type IdTokenOptions, makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { expect, inject } from 'vitest';
import { test as base, codeOf, newEmail, type Supabase, testWith } from './supabase.ts';

// These tests cannot run on a real project, because it trusts only Google and Apple.
const { embedded } = inject('stack');
const test = base.runIf(embedded);
const confirming = testWith({ emailConfirmations: true }).runIf(embedded);

async function exchange(supabase: Supabase, options: IdTokenOptions) {
  const body = { provider: options.provider ?? 'google', id_token: await makeIdToken(options) };
  return supabase.call('/auth/v1/token?grant_type=id_token', { body });
}

/** Makes a token, exchanges it, and returns the user. */
async function userOf(supabase: Supabase, options: IdTokenOptions) {
  const { status, body } = await exchange(supabase, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.user;
}

test('an ID token with an unverified or no address creates an account if confirmations are off', async ({
  supabase,
}) => {
  const { id, email } = await supabase.signUp();
  const user = await userOf(supabase, { email, emailVerified: false });
  expect([user.id, user.app_metadata.providers]).toEqual([id, ['email', 'google']]);
  const other = await userOf(supabase, { provider: 'apple', sub: randomUUID() });
  expect(other).toMatchObject({ email: '', app_metadata: { provider: 'apple' } });
});

confirming('an unverified address neither opens a session nor takes over an account', async ({ supabase }) => {
  const { sql } = supabase;
  const owned = { email: newEmail(), sub: randomUUID() };
  const owner = await userOf(supabase, { email: owned.email });
  for (const unverified of [owned, { email: newEmail(), sub: randomUUID() }])
    expect(await codeOf(exchange(supabase, { ...unverified, emailVerified: false }))).toBe(
      '422 provider_email_needs_verification',
    );
  const [other] = await sql`
    select u.id, u.email, confirmation_sent_at is not null as mailed
    from auth.users u join auth.identities i on i.user_id = u.id where provider_id = ${owned.sub}`;
  expect(other).toEqual({ id: expect.any(String), email: null, mailed: true });
  expect(other?.['id']).not.toBe(owner.id);
  expect(await sql`select from auth.identities where user_id = ${owner.id}`).toHaveLength(1);
});
