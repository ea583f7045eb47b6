import { describe, expect } from 'vitest';
import { reject } from '../limits/bursts.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { codeSentTo } from '../support/mail.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { newEmail, password, test } from '../support/test.ts';
import { other, verify } from './mailed-codes.ts';

const confirming = testWithConfirmations();

describe('the password that is sent with the code of a sign-up', () => {
  test('a sign-up code needs a password and name by the rules of sign-up', async ({ api }) => {
    for (const [wrong, message] of [
      [{}, 'password: is required.'],
      [{ password: '12345' }, 'password: must have at least 6 characters.'],
      [{ password: `${'é'.repeat(36)}x` }, 'password: must have at most 72 bytes.'],
      [{ password, full_name: ' ' }, 'full_name: must not be empty.'],
    ] as const) {
      const sent = { type: 'signup', email: newEmail(), code: '123456', ...wrong };
      const { body } = await api.post('/auth/verify').send(sent).expect(400);
      expect(body.error.message).toBe(message);
    }
  });

  test('the response says how to go on when the code was used and the password not saved', async () => {
    const unsaved = /^The address is confirmed.*use "forgot password"\.$/;
    const weak = /^password: too easy to guess.*The address is confirmed: use "forgot password"/;
    // The answers of Auth to the password and of the data API to the name, then the answer that the app gets.
    const cases = [
      [422, 'weak_password', 200, 400, weak, 'address_confirmed'],
      [503, 'unexpected_failure', 200, 500, unsaved, undefined],
      [429, 'over_request_rate_limit', 200, 500, unsaved, undefined],
      [400, 'something_new', 200, 500, unsaved, undefined],
      [200, '', 503, 500, unsaved, undefined], // the name cannot be saved
      [403, 'session_not_found', 200, 401, /^The code is wrong/, 'code_invalid'],
      [422, 'same_password', 200, 200, undefined, undefined], // another gateway saved it first
    ] as const;
    let [ofPassword, code, ofName] = [0, '', 0];
    await withSupabase(
      (req, res) => {
        if (req.url === '/auth/v1/verify') sendSession(res);
        else if (req.url === '/auth/v1/user') reject(res, ofPassword, code);
        else reject(res, ofName);
      },
      async (api) => {
        for (const [index, row] of cases.entries()) {
          const [, , , status, message, reason] = row;
          [ofPassword, code, ofName] = row;
          const account = { email: `ada${index}@example.com`, password, full_name: 'Ada' };
          const answer = await api.post('/auth/verify').send({ type: 'signup', code: '123456', ...account });
          expect([code, answer.status, answer.headers['x-error-reason']]).toEqual([code, status, reason]);
          if (message) expect(answer.body.error.message).toMatch(message);
        }
      },
    );
  });
});

confirming(
  'a new account is confirmed with the code of its mail where the project asks for that',
  async ({ project: { api, mailUrl }, skip }) => {
    skip(!canConfirm(), noConfirmations);
    const account = { email: newEmail(), password };
    const { email } = account;
    expect((await api.get('/config').expect(200)).body.data).toMatchObject({
      sign_up: true,
      email_confirmation: true,
    });
    const signedUp = await api.post('/auth/signup').send(account).expect(200);
    expect(signedUp.body).toEqual({
      data: { needs_email_confirmation: true, user: { id: expect.any(String), email } },
    });
    const first = await codeSentTo(mailUrl, email); // a slow sign-up continues after its response
    const signIn = await api
      .post('/auth/signin')
      .send(account)
      .expect(401)
      .expect('X-Error-Reason', 'email_not_confirmed');
    expect(signIn.body.error.message).toBe('Confirm your e-mail address first.');
    await verify(api, email, other(first), 'signup').expect(401);
    // Once a second at most, as in `supabase start`.
    await expect
      .poll(
        async () => {
          await api.post('/auth/resend').send({ email }).expect(200);
          return codeSentTo(mailUrl, email);
        },
        { interval: 1_100 },
      )
      .not.toBe(first);
    await verify(api, email, await codeSentTo(mailUrl, email), 'signup').expect(200);
    await api.post('/auth/signin').send(account).expect(200);
  },
);
