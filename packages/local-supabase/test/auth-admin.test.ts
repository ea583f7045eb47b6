import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { mailsTo } from '../../../test/support/mail.ts';
import { signIn } from './sessions.ts';
import { codeOf, newEmail, password, type Supabase, test } from './supabase.ts';

const users = '/auth/v1/admin/users';

const admin = ({ call, secretKey }: Supabase, path: string, request: Parameters<typeof call>[1] = {}) =>
  call(users + path, { apikey: secretKey, ...request });

test('the admin API creates a user without a mail, once for each address, and deletes it', async ({
  supabase,
}) => {
  const email = newEmail();
  const body = { email, password, email_confirm: true, user_metadata: { full_name: 'Ada' } };
  const made = await admin(supabase, '', { body });
  expect([made.status, made.body.email]).toEqual([200, email]);
  const { user } = (await signIn(supabase, email)).body;
  expect(user).toMatchObject({ id: made.body.id, user_metadata: { full_name: 'Ada' } });
  if (supabase.mailUrl) expect(await mailsTo(supabase.mailUrl, email)).toEqual([]);
  expect(await codeOf(admin(supabase, '', { body }))).toBe('422 email_exists');
  const remove = () => admin(supabase, `/${user.id}`, { method: 'DELETE' });
  expect((await remove()).status).toBe(200);
  expect((await signIn(supabase, email)).status).toBe(400);
  expect((await remove()).status).toBe(404);
});

test('the admin API reads a user, confirms the address, and changes password and metadata', async ({
  supabase,
}) => {
  const email = newEmail();
  const { id } = (await admin(supabase, '', { body: { email, password } })).body;
  const before = await admin(supabase, `/${id}`);
  expect([before.status, before.body.email, before.body.email_confirmed_at]).toEqual([200, email, undefined]);
  const body = { email_confirm: true, password: 'another secret', user_metadata: { full_name: 'Jo' } };
  const changed = await admin(supabase, `/${id}`, { method: 'PUT', body });
  expect([changed.status, changed.body.user_metadata]).toMatchObject([200, { full_name: 'Jo' }]);
  expect((await admin(supabase, `/${id}`)).body.email_confirmed_at).toEqual(expect.any(String));
  expect((await signIn(supabase, email)).status).toBe(400);
  expect((await signIn(supabase, email, 'another secret')).status).toBe(200);
  expect(await codeOf(admin(supabase, `/${randomUUID()}`))).toBe('404 user_not_found');
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
