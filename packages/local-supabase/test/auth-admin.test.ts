import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { signIn } from './sessions.ts';
import { newEmail, password, test } from './supabase.ts';

const users = '/auth/v1/admin/users';

describe('the admin API of Auth', () => {
  test('creates a user who can sign in, and deletes a user', async ({ supabase }) => {
    const email = newEmail();
    const apikey = supabase.secretKey;
    const made = await supabase.call(users, { apikey, body: { email, password, email_confirm: true } });
    expect([made.status, made.body.email]).toEqual([200, email]);
    expect((await signIn(supabase, email)).body.user.id).toBe(made.body.id);
    const address = `${users}/${made.body.id}`;
    expect((await supabase.call(address, { apikey, method: 'DELETE' })).status).toBe(200);
    expect((await signIn(supabase, email)).status).toBe(400);
    expect((await supabase.call(address, { apikey, method: 'DELETE' })).status).toBe(404);
  });

  test('creates no second user with one address', async ({ supabase }) => {
    const { email } = await supabase.signUp();
    const { status, body } = await supabase.call(users, {
      apikey: supabase.secretKey,
      body: { email, password },
    });
    expect([status, body.code]).toEqual([422, 'email_exists']);
  });

  test('reads a user, confirms the address, and changes password and metadata', async ({ supabase }) => {
    const email = newEmail();
    const apikey = supabase.secretKey;
    const made = await supabase.call(users, { apikey, body: { email, password } });
    const address = `${users}/${made.body.id}`;
    const before = await supabase.call(address, { apikey });
    expect([before.status, before.body.email, before.body.email_confirmed_at]).toEqual([
      200,
      email,
      undefined,
    ]);
    const change = { email_confirm: true, password: 'another secret', user_metadata: { full_name: 'Jo' } };
    const changed = await supabase.call(address, { apikey, method: 'PUT', body: change });
    expect([changed.status, changed.body.user_metadata]).toMatchObject([200, { full_name: 'Jo' }]);
    expect((await supabase.call(address, { apikey })).body.email_confirmed_at).toEqual(expect.any(String));
    expect((await signIn(supabase, email)).status).toBe(400);
    expect((await signIn(supabase, email, 'another secret')).status).toBe(200);
    const nobody = await supabase.call(`${users}/${randomUUID()}`, { apikey });
    expect([nobody.status, nobody.body.code]).toEqual([404, 'user_not_found']);
  });

  test('rejects the publishable key and tokens of users', async ({ supabase }) => {
    const body = { email: newEmail(), password, email_confirm: true };
    const { id, accessToken: token } = await supabase.signUp();
    for (const caller of [{}, { token }, { token, apikey: supabase.secretKey }]) {
      expect((await supabase.call(users, { ...caller, body })).status).toBeGreaterThanOrEqual(401);
      expect(
        (await supabase.call(`${users}/${id}`, { ...caller, method: 'DELETE' })).status,
      ).toBeGreaterThanOrEqual(401);
    }
    expect((await supabase.sql`select id from auth.users where id = ${id}`).length).toBe(1);
  });
});
