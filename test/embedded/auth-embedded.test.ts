import { describe, expect, inject } from 'vitest';
import { newEmail, password, testWithConfirmations as test } from './supabase.ts';

// What depends on settings that a stack given by TEST_SUPABASE_URL need not have.
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

  test('a second sign-up before confirming sends another mail, after a minute, and keeps the first password', async ({
    supabase,
  }) => {
    const email = newEmail();
    const first = await supabase.call('/auth/v1/signup', { body: { email, password } });
    const again = () => supabase.call('/auth/v1/signup', { body: { email, password: 'another one' } });
    const early = await again();
    expect([early.status, early.body.code]).toEqual([429, 'over_email_send_rate_limit']);
    await supabase.sql`
      update auth.users set confirmation_sent_at = confirmation_sent_at - interval '2 minutes' where email = ${email}`;
    const second = await again();
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
    expect((await again()).status).toBe(429);
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
});
