import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { newEmail, password, signUp, test } from '../support/test.ts';

describe('POST /auth/signup', () => {
  test('gives a session with exactly the fields of the contract', async ({ api }) => {
    const email = newEmail();
    const { body } = await api
      .post('/auth/signup')
      .send({ email, password })
      .expect(200)
      .expect('Cache-Control', 'no-store');
    const { exp, sub } = decodeJwt(body.data.access_token);
    expect(body).toEqual({
      data: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        token_type: 'bearer',
        expires_in: 3600,
        expires_at: exp,
        user: { id: sub, email },
      },
    });
  });

  test('creates the customer, with the given name', async ({ api, sql }) => {
    for (const [given, full_name] of [
      [' \u0085Ada Lovelace\u0085', 'Ada Lovelace'],
      [null, null], // counts as absent
    ]) {
      const body = { email: newEmail(), password, full_name: given };
      const { data } = (await api.post('/auth/signup').send(body).expect(200)).body;
      expect(
        await sql`select email, full_name, source from public.customers where id = ${data.user.id}`,
      ).toEqual([{ email: body.email, full_name, source: 'email' }]);
    }
  });

  test('an address that has an account is rejected with a message that does not say so', async ({ api }) => {
    const { user } = await signUp(api);
    const { body } = await api
      .post('/auth/signup')
      .send({ email: user.email.toUpperCase(), password })
      .expect(400)
      .expect('X-Error-Reason', 'address_taken')
      .expect('X-Error-Field', 'email');
    expect(body.error.message).not.toMatch(/exist|already|taken|registered/i);
  });

  test('accepts passwords of 6 characters and of 72 bytes, and odd addresses', async ({ api }) => {
    for (const account of [
      { email: newEmail(), password: ' 1234 ' },
      { email: newEmail(), password: 'é'.repeat(36) },
      { email: `o^brien%${newEmail()}`, password }, // RFC 5321 allows ^ and %
    ]) {
      await api.post('/auth/signup').send(account).expect(200);
      await api.post('/auth/signin').send(account).expect(200);
    }
  });
});
