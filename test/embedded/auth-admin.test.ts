import { describe, expect } from 'vitest';
import { signIn } from './sessions.ts';
import { newEmail, password, test } from './supabase.ts';

const users = '/auth/v1/admin/users';

describe('the admin API of Auth', () => {
  test('makes a user who can sign in, and deletes one', async ({ supabase }) => {
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

  test('is closed to the publishable key and to users', async ({ supabase }) => {
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
