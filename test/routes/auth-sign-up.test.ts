import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { codeSentTo } from '../support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

const confirming = testWithConfirmations();

describe('POST /auth/signup', () => {
  test('gives a session with exactly the fields of the contract', async ({ api }) => {
    const email = newEmail();
    const { body } = await api
      .post('/auth/signup')
      .send({ email, password })
      .expect(200)
      .expect('Cache-Control', 'no-store');
    expect(body).toEqual({
      data: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        token_type: 'bearer',
        expires_in: 3600,
        expires_at: decodeJwt(body.data.access_token).exp,
        user: { id: decodeJwt(body.data.access_token).sub, email },
      },
    });
  });

  test('creates the customer, with the given name', async ({ api, sql }) => {
    const body = { email: newEmail(), password, full_name: ' \u0085Ada Lovelace\u0085' };
    const { data } = (await api.post('/auth/signup').send(body).expect(200)).body;
    expect(
      await sql`select email, full_name, source from public.customers where id = ${data.user.id}`,
    ).toEqual([{ email: body.email, full_name: 'Ada Lovelace', source: 'email' }]);
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

  test('a name that is null counts as absent', async ({ api, sql }) => {
    const body = { email: newEmail(), password, full_name: null };
    const { data } = (await api.post('/auth/signup').send(body).expect(200)).body;
    expect(await sql`select full_name from public.customers where id = ${data.user.id}`).toEqual([
      { full_name: null },
    ]);
  });

  test('an address with ^ and %, which RFC 5321 allows, is accepted', async ({ api }) => {
    const account = { email: `o^brien%${newEmail()}`, password };
    await api.post('/auth/signup').send(account).expect(200);
    await api.post('/auth/signin').send(account).expect(200);
  });

  test('accepts passwords of 6 characters and of 72 bytes, with spaces', async ({ api }) => {
    for (const secret of [' 1234 ', 'é'.repeat(36)]) {
      const body = { email: newEmail(), password: secret };
      await api.post('/auth/signup').send(body).expect(200);
      await api.post('/auth/signin').send(body).expect(200);
    }
  });
});

describe('POST /auth/signup where e-mail addresses must be confirmed', () => {
  confirming.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

  confirming('no tokens are issued, and signing in asks for the confirmation', async ({ project }) => {
    const body = { email: newEmail(), password };
    const answer = await project.api.post('/auth/signup').send(body).expect(200);
    expect(answer.body).toEqual({
      data: { needs_email_confirmation: true, user: { id: expect.any(String), email: body.email } },
    });
    await codeSentTo(project.mailUrl, body.email); // a slow sign-up continues after its response
    const signIn = await project.api
      .post('/auth/signin')
      .send(body)
      .expect(401)
      .expect('X-Error-Reason', 'email_not_confirmed');
    expect(signIn.body.error.message).toBe('Confirm your e-mail address first.');
  });
});
