import type { Response } from 'supertest';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
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

  /** Confirms an address at a gateway whose Auth accepts the code and answers the new password like this. @returns the response */
  async function answerTo(password: [status: number, code?: string], customer = 200) {
    let answer: Response | undefined;
    await withSupabase(
      (req, res) => {
        const [status, code] = req.url === '/auth/v1/user' ? password : [customer];
        if (req.url === '/auth/v1/verify') sendSession(res);
        else res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ code }));
      },
      async (api) => {
        const sent = { type: 'signup', email: 'ada@example.com', code: '123456', full_name: 'Ada' };
        answer = await api.post('/auth/verify').send({ ...sent, password: 'correct horse battery' });
      },
    );
    return answer;
  }

  test('a weak password gets the reason and the way out, as the code is used up', async () => {
    const answer = await answerTo([422, 'weak_password']);
    expect([answer?.status, answer?.headers['x-error-reason']]).toEqual([400, 'address_confirmed']);
    expect(answer?.body.error.message).toMatch(
      /^password: too easy to guess.*The address is confirmed: use "forgot password"/,
    );
  });

  test.for([
    ['Auth fails', [503, 'unexpected_failure'], 200],
    ['Auth takes no more calls', [429, 'over_request_rate_limit'], 200],
    ['Auth rejects for a reason that nobody knows', [400, 'something_new'], 200],
    ['the name cannot be saved', [200], 503],
  ] as const)(
    'a password that may be unsaved gets 500 with the way out: %s',
    async ([, password, customer]) => {
      const answer = await answerTo([...password], customer);
      expect(answer?.status).toBe(500);
      expect(answer?.body.error.message).toMatch(/^The address is confirmed.*use "forgot password"\.$/);
    },
  );

  test('a password that another gateway saved first counts as saved', async () => {
    expect((await answerTo([422, 'same_password']))?.status).toBe(200);
    expect((await answerTo([403, 'session_not_found']))?.status).toBe(401);
  });
});

confirming(
  'a new account is confirmed with the code of its mail where the project asks for that',
  async ({ project: { api, mailUrl }, skip }) => {
    skip(!canConfirm(), noConfirmations);
    const email = newEmail();
    const signedUp = await api.post('/auth/signup').send({ email, password }).expect(200);
    expect(signedUp.body.data).toMatchObject({ needs_email_confirmation: true, user: { email } });
    await api.post('/auth/signin').send({ email, password }).expect(401);
    const first = await codeSentTo(mailUrl, email);
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
    const { body } = await verify(api, email, await codeSentTo(mailUrl, email), 'signup').expect(200);
    await api.get('/me').auth(body.data.access_token, bearer).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(200);
  },
);
