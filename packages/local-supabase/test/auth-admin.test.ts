import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { mailsTo } from '../../../test/support/mail.ts';
import { signIn } from './sessions.ts';
import { codeOf, newEmail, password, type Request, test } from './supabase.ts';

const users = '/auth/v1/admin/users';

test('the admin API creates a user without a mail, once, reads, changes and deletes it', async ({
  supabase,
}) => {
  const admin = (path: string, request: Request = {}) =>
    supabase.call(users + path, { apikey: supabase.secretKey, ...request });
  const email = newEmail();
  const made = await admin('', { body: { email, password } });
  const { id } = made.body;
  expect([made.status, made.body.email]).toEqual([200, email]);
  if (supabase.mailUrl) expect(await mailsTo(supabase.mailUrl, email)).toEqual([]);
  expect(await codeOf(admin('', { body: { email, password } }))).toBe('422 email_exists');
  expect((await admin(`/${id}`)).body.email_confirmed_at).toBeUndefined();

  const body = { email_confirm: true, password: 'another secret', user_metadata: { full_name: 'Jo' } };
  const changed = await admin(`/${id}`, { method: 'PUT', body });
  expect([changed.status, changed.body.user_metadata]).toMatchObject([200, { full_name: 'Jo' }]);
  expect((await admin(`/${id}`)).body.email_confirmed_at).toEqual(expect.any(String));
  expect((await signIn(supabase, email)).status).toBe(400);
  expect((await signIn(supabase, email, 'another secret')).status).toBe(200);

  const remove = () => admin(`/${id}`, { method: 'DELETE' });
  expect((await remove()).status).toBe(200);
  expect(await codeOf(remove())).toBe('404 user_not_found');
  expect(await codeOf(admin(`/${randomUUID()}`))).toBe('404 user_not_found');
});

test('the admin API rejects the publishable key and tokens of users', async ({ supabase }) => {
  const body = { email: newEmail(), password, email_confirm: true };
  const { id, accessToken: token } = await supabase.signUp();
  for (const caller of [{}, { token }, { token, apikey: supabase.secretKey }]) {
    expect((await supabase.call(users, { ...caller, body })).status).toBeGreaterThanOrEqual(401);
    const remove = supabase.call(`${users}/${id}`, { ...caller, method: 'DELETE' });
    expect((await remove).status).toBeGreaterThanOrEqual(401);
  }
  expect(await supabase.sql`select id from auth.users where id = ${id}`).toHaveLength(1);
});
