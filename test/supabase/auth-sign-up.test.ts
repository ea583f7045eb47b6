import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { newEmail, password, test } from '../support/test.ts';

type Answer = readonly [status: number, body: object];

/** Error of Auth for the slower of two simultaneous sign-ups, and for a failing database. */
const lost: Answer = [500, { code: 'unexpected_failure', message: 'Database error saving new user' }];

/** Signs up with an Auth that sends these responses. @returns the status and the calls to Auth */
async function signUpWith(signUp: Answer, signIn: Answer | 'session' = 'session', mailer_autoconfirm = true) {
  const asked: unknown[] = [];
  let status = 0;
  const respond = (res: ServerResponse, [code, body]: Answer) =>
    res.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  await withSupabase(
    ({ url }, res) => {
      const settings = { mailer_autoconfirm, disable_signup: false, external: { email: true } };
      if (url?.endsWith('/settings')) return respond(res, [200, settings]);
      asked.push(url);
      if (url?.startsWith('/auth/v1/signup')) return respond(res, signUp);
      return signIn === 'session' ? sendSession(res) : respond(res, signIn);
    },
    async (api) => {
      ({ status } = await api.post('/auth/signup').send({ email: newEmail(), password }));
    },
  );
  return { status, asked };
}

test('POST /auth/guest returns 400 without a response of Auth if guests are switched off', async () => {
  await withSupabase(
    ({ url }, res) => {
      if (url?.startsWith('/auth/v1/')) return void res.destroy();
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ settings: {}, guests: false }));
    },
    async (api) => {
      const { headers } = await api.post('/auth/guest').expect(400);
      expect(headers['x-error-reason']).toBe('guests_disabled');
    },
  );
});

test('a sign-up that is slower than an equal one at another gateway signs in instead', async () => {
  const asked = ['/auth/v1/signup', '/auth/v1/token?grant_type=password'];
  expect(await signUpWith(lost)).toEqual({ status: 200, asked });
  for (const [status, code] of [
    [400, 'invalid_credentials'],
    [500, 'unexpected_failure'],
  ] as const)
    expect(await signUpWith(lost, [status, { code }])).toEqual({ status: 500, asked });
  const unconfirmed = await signUpWith(lost, [400, { code: 'email_not_confirmed' }], false);
  expect(unconfirmed.status).toBe(200); // as for every sign-up if addresses must be confirmed
});

test('other failures of a sign-up do not cause a sign-in', async () => {
  for (const failure of [
    [504, { code: 'request_timeout' }],
    [500, { code: 'unexpected_failure', message: 'Error sending confirmation email' }],
    [500, { message: 'of a proxy' }],
    [503, lost[1]],
    [422, { code: 'user_already_exists' }],
  ] as const)
    expect((await signUpWith(failure)).asked).toEqual(['/auth/v1/signup']);
});
