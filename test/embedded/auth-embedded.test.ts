import { describe, expect, inject } from 'vitest';
import { newEmail, password, testWithConfirmations as test } from './supabase.ts';

// What depends on settings that a stack given by TEST_SUPABASE_URL need not have: confirmation of addresses, and no
// time in which a refresh token may be used again (hosted projects and `supabase start` allow ten seconds).
describe.runIf(inject('stack').embedded)('where addresses must be confirmed', () => {
  test('sign-up gives a user without a session, who cannot sign in before confirming', async ({
    supabase,
  }) => {
    const email = newEmail();
    const { status, body } = await supabase.call('/auth/v1/signup', { body: { email, password } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ email, role: 'authenticated', confirmation_sent_at: expect.any(String) });
    expect(body.access_token ?? body.user).toBeUndefined();

    const grant = '/auth/v1/token?grant_type=password';
    const right = await supabase.call(grant, { body: { email, password } });
    const wrong = await supabase.call(grant, { body: { email, password: 'wrong password' } });
    expect([right.status, right.body.code]).toEqual([400, 'email_not_confirmed']);
    expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_credentials']);

    await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
    expect((await supabase.call(grant, { body: { email, password } })).status).toBe(200);
  });

  test('a second sign-up before confirming gives the same user, with the first password', async ({
    supabase,
  }) => {
    const email = newEmail();
    const first = await supabase.call('/auth/v1/signup', { body: { email, password } });
    // Within a second it would be 429: one mail at a time.
    await supabase.sql`
      update auth.users set confirmation_sent_at = now() - interval '2 minutes' where email = ${email}`;
    const second = await supabase.call('/auth/v1/signup', { body: { email, password: 'another one' } });
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
    await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
    const body = { email, password };
    expect((await supabase.call('/auth/v1/token?grant_type=password', { body })).status).toBe(200);
  });

  test('a second sign-up after confirming gives a user who does not exist', async ({ supabase }) => {
    const email = newEmail();
    const first = await supabase.call('/auth/v1/signup', { body: { email, password } });
    await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
    const { status, body } = await supabase.call('/auth/v1/signup', {
      body: { email, password: 'another one', data: { full_name: 'Jo' } },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ email, identities: [], role: '', user_metadata: { full_name: 'Jo' } });
    expect(body.id).not.toBe(first.body.id);
    const weak = await supabase.call('/auth/v1/signup', { body: { email, password: 'weak' } });
    expect([weak.status, weak.body.code]).toEqual([422, 'weak_password']);
  });

  test('a refresh token older than the one before the present one ends the session', async ({ supabase }) => {
    const email = newEmail();
    await supabase.call('/auth/v1/signup', { body: { email, password } });
    await supabase.sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
    const refresh = (refresh_token: string) =>
      supabase.call('/auth/v1/token?grant_type=refresh_token', { body: { refresh_token } });
    const first = (await supabase.call('/auth/v1/token?grant_type=password', { body: { email, password } }))
      .body;
    const second = (await refresh(first.refresh_token)).body;
    const third = (await refresh(second.refresh_token)).body;
    const old = await refresh(first.refresh_token);
    expect([old.status, old.body.code]).toEqual([400, 'refresh_token_already_used']);
    expect((await refresh(third.refresh_token)).body.code).toBe('refresh_token_not_found');
    const user = await supabase.call('/auth/v1/user', { token: third.access_token });
    expect([user.status, user.body.code]).toEqual([403, 'session_not_found']);
  });
});
