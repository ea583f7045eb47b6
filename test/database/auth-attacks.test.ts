import { describe, expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { newEmail, type Session, signUp, test } from '../support/test.ts';

// Calls of Auth that the publishable key, which is public, allows and the database rejects.

const { apiUrl, publishableKey, secretKey } = inject('stack');

/** Calls Auth, by default with the publishable key. @returns the status */
async function ask(method: string, path: string, body: object, token?: string, apikey = publishableKey) {
  const response = await fetch(`${apiUrl}/auth/v1/${path}`, {
    method,
    headers: {
      apikey,
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return response.status;
}

describe('straight at Auth, with the publishable key', () => {
  test('nobody enrols a second factor, also with a session that was stolen', async ({ api, sql }) => {
    const { user, access_token, refresh_token } = await signUp(api);
    const factor = { factor_type: 'totp', friendly_name: 'a thief' };
    expect(await ask('POST', 'factors', factor, access_token)).toBeGreaterThanOrEqual(400);
    expect(await sql`select from auth.mfa_factors where user_id = ${user.id}`).toHaveLength(0);
    await api.post('/auth/refresh').send({ refresh_token }).expect(200);
  });

  test('nobody changes their e-mail address or phone number', async ({ api, sql }) => {
    const { user, access_token } = await signUp(api);
    for (const change of [{ email: newEmail() }, { phone: '4915550100' }])
      expect(await ask('PUT', 'user', change, access_token)).toBeGreaterThanOrEqual(400);
    const [row] = await sql`
      select email, coalesce(email_change, '') as email_change, coalesce(phone, '') as phone
      from auth.users where id = ${user.id}`;
    expect(row).toEqual({ email: user.email, email_change: '', phone: '' });
    expect(await ask('PUT', 'user', { data: { theme: 'dark' } }, access_token)).toBe(200);
  });

  test('nobody signs up by phone', async ({ sql }) => {
    const phone = `4915550${Math.floor(1e6 * Math.random())}`;
    const body = { phone, password: 'correct horse battery' };
    expect(await ask('POST', 'signup', body)).toBeGreaterThanOrEqual(400);
    expect(await sql`select from auth.users where phone = ${phone}`).toHaveLength(0);
  });
});

test('an administrator changes an e-mail address at Auth, and the customer has it', async ({ api }) => {
  const session: Session = await signUp(api);
  const email = newEmail();
  const path = `admin/users/${session.user.id}`;
  expect(await ask('PUT', path, { email, email_confirm: true }, secretKey, secretKey)).toBe(200);
  const { body } = await api.get('/me/customer').auth(session.access_token, bearer).expect(200);
  expect(body.data.email).toBe(email);
});
