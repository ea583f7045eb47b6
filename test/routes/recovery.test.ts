import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'vitest';
import { reject } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { codeSentTo } from '../support/mail.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { clientWith, newEmail, password, signUp, test } from '../support/test.ts';
import { mailUrl, newPassword, noMail, other, recoveryCode, verify } from './mailed-codes.ts';

const confirming = testWithConfirmations();

test('a mailed code allows a new password, which ends all sessions', async ({ api, gateway, sql, skip }) => {
  skip(!mailUrl, noMail);
  const phone = await signUp(api);
  const { email } = phone.user;
  const code = await recoveryCode(api, email);
  const answers = new Set<string>();
  const isRejected = async (address: string, tried: string, type?: string) => {
    const { headers, body } = await verify(api, address, tried, type).expect(401);
    answers.add(`${headers['x-error-reason']}: ${body.error.message}`); // the same for each cause
  };
  await isRejected(email, other(code));
  await isRejected(email, code, 'signup');
  await isRejected((await signUp(api)).user.email, code);
  await isRejected(newEmail(), code);
  const session = (await verify(api, email.toUpperCase(), ` ${code} `).expect(200)).body.data;
  expect(session.user).toEqual(phone.user);
  await isRejected(email, code); // the code was used

  const app = clientWith(gateway, session.access_token);
  const change = () => app.post('/auth/password').send({ password: newPassword, current_password: null });
  await change().expect(200, { data: { ok: true } });
  await change().expect(400).expect('X-Error-Reason', 'same_password').expect('X-Error-Field', 'password');
  const refresh = (refresh_token: string) => api.post('/auth/refresh').send({ refresh_token });
  await refresh(phone.refresh_token).expect(401);
  await refresh(session.refresh_token).expect(200);
  await api.post('/auth/signin').send({ email, password }).expect(401);
  await api.post('/auth/signin').send({ email, password: newPassword }).expect(200);

  const late = await recoveryCode(api, email);
  await sql`update public.customers set is_active = false where id = ${phone.user.id}`;
  await isRejected(email, late);
  expect([...answers]).toEqual([expect.stringMatching(/^code_invalid: /)]);
});

test('POST /auth/password returns the reason why Auth rejects a new password', async () => {
  const current = 'current_password';
  let [sent, code]: [number, string] = [0, ''];
  await withSupabase(
    (_req, res) => reject(res, sent, code),
    async (api) => {
      for (const [ofAuth, codeOfAuth, status, reason, field] of [
        [422, 'weak_password', 400, 'weak_password', 'password'],
        [400, `${current}_required`, 400, `${current}_required`, current],
        [400, `${current}_invalid`, 400, 'wrong_current_password', current],
        [400, `${current}_mismatch`, 400, 'wrong_current_password', current],
        [400, 'reauthentication_needed', 401, 'recent_sign_in_required', undefined],
        [401, 'insufficient_aal', 400, 'second_factor', undefined],
        [403, 'session_not_found', 401, 'token_invalid', undefined],
        [400, 'something_new', 500, undefined, undefined],
      ] as const) {
        [sent, code] = [ofAuth, codeOfAuth];
        const request = api.post('/auth/password').auth(await token(), bearer);
        const answer = await request.send({ password: newPassword, current_password: password });
        const { 'x-error-reason': seen, 'x-error-field': named } = answer.headers;
        expect([code, answer.status, seen, named]).toEqual([code, status, reason, field]);
      }
    },
  );
});

test('the response says how to continue if a code was used but the password not saved', async () => {
  const unsaved = /^The address is confirmed.*use "forgot password"\.$/;
  const weak = /^password: too easy to guess.*The address is confirmed: use "forgot password"/;
  let [ofPassword, code, ofName] = [0, '', 0];
  await withSupabase(
    (req, res) => {
      if (req.url === '/auth/v1/verify') sendSession(res);
      else if (req.url === '/auth/v1/user') reject(res, ofPassword, code);
      else if (ofName === 200)
        res.setHeader('Content-Type', 'application/json').end('{"id":"","marketing_opt_in":false}');
      else reject(res, ofName);
    },
    async (api) => {
      // Status and code of Auth for the password, status of the data API for the name, then the response to the app.
      const cases = [
        [422, 'weak_password', 200, 400, weak, 'address_confirmed'],
        [503, 'unexpected_failure', 200, 500, unsaved, undefined],
        [400, 'something_new', 200, 500, unsaved, undefined],
        [200, '', 503, 500, unsaved, undefined], // the name cannot be saved
        [403, 'session_not_found', 200, 401, /^The code is wrong/, 'code_invalid'],
        [422, 'same_password', 200, 200, /^undefined$/, undefined], // another gateway has saved it
      ] as const;
      for (const [index, [toPassword, codeOfAuth, toName, ...expected]] of cases.entries()) {
        [ofPassword, code, ofName] = [toPassword, codeOfAuth, toName];
        const account = { email: `ada${index}@example.com`, password, full_name: 'Ada' };
        const answer = await api.post('/auth/verify').send({ type: 'signup', code: '123456', ...account });
        const [status, message, reason] = expected;
        expect([answer.status, answer.headers['x-error-reason']]).toEqual([status, reason]);
        expect(String(answer.body.error?.message)).toMatch(message);
      }
    },
  );
});

test('a failed or slow mail of Auth is visible only in the log and a metric', async () => {
  const statuses: Record<string, number> = {
    over_email_send_rate_limit: 429,
    email_address_not_authorized: 400,
    unexpected_failure: 500,
  };
  const held: ServerResponse[] = [];
  await withSupabase(
    async (req, res) => {
      const { email } = (await json(req)) as { email: string };
      const [what = ''] = email.split('@');
      if (what === 'slow') held.push(res);
      else if (what === 'page') res.writeHead(502).end('<h1>Bad gateway</h1>');
      else reject(res, statuses[what] ?? 200, what);
    },
    async (api, gateway) => {
      const ask = (path: string, what: string) => api.post(path).send({ email: `${what}@example.com` });
      const asked = [...Object.keys(statuses), 'slow', 'sent'].flatMap((what) =>
        ['/auth/recover', '/auth/resend'].map((path) => ask(path, what).expect(200, { data: { ok: true } })),
      );
      await Promise.all([...asked, ask('/auth/recover', 'page').expect(500)]);

      const warnings = () => {
        const lines = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
        return lines.map(({ type, reason, err }) => `${type} ${reason ?? err.message}`).sort();
      };
      const notSent = async () => valuesOf(await scrape(gateway), 'sounds_mails_not_sent_total')[''];
      const expected = Object.keys(statuses).flatMap((code) => [`recovery ${code}`, `signup ${code}`]);
      // Poll, because the warning about a slow mail is logged after the response.
      await expect.poll(warnings).toEqual(expected.sort());
      expect(await notSent()).toBe(6);
      for (const { socket } of held) socket?.destroy();
      await expect.poll(notSent).toBe(8);
      for (const call of [/^recovery .*: No response from \/auth\/v1\/recover/, /^signup .*: No response from \/auth/])
        expect(warnings()).toContainEqual(expect.stringMatching(call));
    },
    { METRICS_PORT: '0' },
  );
});

confirming('a project can require new accounts to confirm a mailed code', async ({ project, skip }) => {
  skip(!canConfirm(), noConfirmations);
  const { api, mailUrl } = project;
  const account = { email: newEmail(), password };
  const { email } = account;
  const config = (await api.get('/config').expect(200)).body.data;
  expect(config).toMatchObject({ sign_up: true, email_confirmation: true });
  const user = { id: expect.any(String), email };
  const signedUp = await api.post('/auth/signup').send(account).expect(200);
  expect(signedUp.body).toEqual({ data: { needs_email_confirmation: true, user } });
  const code = await codeSentTo(mailUrl, email); // a slow sign-up continues after its response
  const signIn = () => api.post('/auth/signin').send(account);
  const wrong = await api.post('/auth/signin').send({ email, password: 'a guess' });
  const unconfirmed = await signIn().expect(401).expect('X-Error-Reason', 'invalid_credentials');
  expect(unconfirmed.body).toEqual(wrong.body); // otherwise anyone could sign up and in to see who has an account
  await verify(api, email, other(code), 'signup').expect(401);
  await verify(api, email, code, 'signup').expect(200);
  await signIn().expect(200);
});

test('POST /auth/verify requires a password with the type signup only, and names the wrong field', async ({ api }) => {
  const sent = { email: newEmail(), code: '12345678' };
  const fieldOf = async (body: unknown) =>
    (await api.post('/auth/verify').send(body as object)).headers['x-error-field'];
  for (const password of [{}, { password: null }, { password: '12345' }])
    expect(await fieldOf({ type: 'signup', ...sent, ...password })).toBe('password');
  for (const type of [undefined, null, 'email', 5]) expect(await fieldOf({ type, ...sent })).toBe('type');
  expect(await fieldOf({ type: 'signup', ...sent, password, full_name: ' ' })).toBe('full_name');
  const nulls = { password: null, full_name: null };
  for (const others of [{}, nulls, { password }])
    await api
      .post('/auth/verify')
      .send({ type: 'recovery', ...sent, ...others })
      .expect(401);
});
