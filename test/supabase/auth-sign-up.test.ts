import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password, test } from '../support/test.ts';

const respond = (res: ServerResponse, status: number, body: object) =>
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

/** Error of Auth for the slower of two concurrent sign-ups, and also for a failing database. */
const lost = { code: 'unexpected_failure', message: 'Database error saving new user' };

/** Signs up with an Auth that gives these answers to the sign-up and to a sign-in. @returns the status and the calls of Auth */
async function signUpWith(
  answer: (res: ServerResponse) => void,
  signIn: (res: ServerResponse) => void,
  mailer_autoconfirm = true,
) {
  const asked: (string | undefined)[] = [];
  let status = 0;
  await withSupabase(
    (req, res) => {
      const settings = { mailer_autoconfirm, disable_signup: false, external: { email: true } };
      if (req.url?.endsWith('/settings')) return respond(res, 200, settings);
      asked.push(req.url);
      if (req.url?.startsWith('/auth/v1/signup')) answer(res);
      else signIn(res);
      return undefined;
    },
    async (api) => {
      ({ status } = await api.post('/auth/signup').send({ email: newEmail(), password }));
    },
  );
  return { status, asked };
}

describe('a sign-up that loses against the same one at another gateway', () => {
  test('signs in once instead', async () => {
    const { status, asked } = await signUpWith((res) => respond(res, 500, lost), sendSession);
    expect(status).toBe(200);
    expect(asked).toEqual(['/auth/v1/signup', '/auth/v1/token?grant_type=password']);
  });

  test('gets 500 where that sign-in fails as well', async () => {
    for (const [code, answer] of Object.entries({ invalid_credentials: 400, unexpected_failure: 500 })) {
      const { status, asked } = await signUpWith(
        (res) => respond(res, 500, lost),
        (res) => respond(res, answer, { code }),
      );
      expect(status).toBe(500);
      expect(asked).toHaveLength(2);
    }
  });

  test('looks like every sign-up where addresses must be confirmed', async () => {
    const { status } = await signUpWith(
      (res) => respond(res, 500, lost),
      (res) => respond(res, 400, { code: 'email_not_confirmed' }),
      false,
    );
    expect(status).toBe(200);
  });

  test('other failures of a sign-up sign nobody in', async () => {
    for (const [status, body] of [
      [504, { code: 'request_timeout' }],
      [500, { code: 'unexpected_failure', message: 'Error sending confirmation email' }],
      [500, { message: 'of a proxy' }],
      [503, lost],
      [422, { code: 'user_already_exists' }],
    ] as const) {
      const { asked } = await signUpWith((res) => respond(res, status, body), sendSession);
      expect(asked).toEqual(['/auth/v1/signup']);
    }
  });
});
