import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { reject } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { clientWith, newEmail, newUser, password, signUp, test } from '../support/test.ts';
import { mailUrl, newPassword, noMail, other, recoveryCode, refresh, verify } from './mailed-codes.ts';

describe('a forgotten password', () => {
  test.beforeEach(({ skip }) => skip(!mailUrl, noMail));

  test('a mailed code replaces a forgotten password and ends other sessions', async ({ api, gateway }) => {
    const phone = await signUp(api);
    const { email } = phone.user;
    const code = await recoveryCode(api, email);
    const answers = new Set<string>();
    const isRejected = async (address: string, tried: string, type?: string) => {
      const { headers, body } = await verify(api, address, tried, type).expect(401);
      answers.add(`${headers['x-error-reason']}: ${body.error.message}`);
    };
    await isRejected(email, other(code));
    await isRejected(email, code, 'signup');
    await isRejected((await signUp(api)).user.email, code);
    await isRejected(newEmail(), code);
    const session = (await verify(api, email.toUpperCase(), ` ${code} `).expect(200)).body.data;
    expect(session.user).toEqual(phone.user);
    await isRejected(email, code); // which was used
    expect([...answers]).toEqual(['code_invalid: The code is wrong, was used already or has expired.']);

    await clientWith(gateway, session.access_token)
      .post('/auth/password')
      .send({ password: newPassword })
      .expect(200, { data: { ok: true } });
    await refresh(api, phone).expect(401);
    await refresh(api, session).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(401);
    await api.post('/auth/signin').send({ email, password: newPassword }).expect(200);
  });

  test('a mailed code of a deactivated customer gets 401', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const code = await recoveryCode(api, user.email);
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    await verify(api, user.email, code).expect(401);
  });
});

describe('POST /auth/password', () => {
  test('a new password must differ and be long enough', async ({ gateway }) => {
    const { app } = await newUser(gateway);
    const change = (changes: object) => app.post('/auth/password').send(changes);
    const { body } = await change({ password })
      .expect(400)
      .expect('X-Error-Reason', 'same_password')
      .expect('X-Error-Field', 'password');
    expect(body.error.message).toBe('password: must differ from the current one.');
    await change({ password: '12345' }).expect(400);
    // Some encoders send null for absent fields.
    await change({ password: newPassword, current_password: null }).expect(200);
  });

  test('says why Auth rejects a new password', async () => {
    const current = 'current_password';
    const wrong = [400, /^current_password: is not the password/, 'wrong_current_password', current] as const;
    const invalid = [401, /^The access token or API key is invalid/, 'token_invalid', undefined] as const;
    const rejections = [
      [422, 'weak_password', 400, /^password: too easy to guess/, 'weak_password', 'password'],
      [400, `${current}_required`, 400, /^current_password: is required/, `${current}_required`, current],
      [400, `${current}_invalid`, ...wrong],
      [400, `${current}_mismatch`, ...wrong],
      [400, 'reauthentication_needed', 401, /^Sign in again/, 'recent_sign_in_required', undefined],
      [401, 'insufficient_aal', 400, /^The account has a second factor/, 'second_factor', undefined],
      [403, 'session_not_found', ...invalid],
      [403, 'user_banned', ...invalid],
      [400, 'something_new', 500, /^The service could not answer/, undefined, undefined],
    ] as const;
    let next: readonly [number, string, ...unknown[]] = rejections[0];
    await withSupabase(
      (_req, res) => reject(res, next[0], next[1]),
      async (api) => {
        for (next of rejections) {
          const [, code, ...expected] = next as (typeof rejections)[number];
          const request = api.post('/auth/password').auth(await token(), bearer);
          const answer = await request.send({ password: newPassword, current_password: password });
          const { 'x-error-reason': reason, 'x-error-field': field } = answer.headers;
          expect([code, answer.status, answer.body.error.message, reason, field]).toEqual([
            code,
            expected[0],
            expect.stringMatching(expected[1]),
            ...expected.slice(2),
          ]);
        }
      },
    );
  });
});

test('a mail that Auth does not send, or slowly, shows in the log and a metric alone', async () => {
  const statuses: Record<string, number> = {
    over_email_send_rate_limit: 429,
    email_address_not_authorized: 400,
    email_provider_disabled: 422,
    unexpected_failure: 500,
  };
  const held: ServerResponse[] = [];
  await withSupabase(
    async (req, res) => {
      const { email } = (await json(req)) as { email: string };
      const [what = ''] = email.split('@');
      if (what === 'slow') held.push(res);
      else if (what === 'page') res.writeHead(502).end('<h1>Bad gateway</h1>');
      else if (what in statuses) reject(res, statuses[what], what);
      else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    },
    async (api, gateway) => {
      const ask = (path: string, what: string) =>
        api
          .post(path)
          .set('X-Request-Id', `of-${what}`)
          .send({ email: `${what}@example.com` });
      const asked = [...Object.keys(statuses), 'slow', 'sent'].flatMap((what) =>
        ['/auth/recover', '/auth/resend'].map((path) => ask(path, what).expect(200, { data: { ok: true } })),
      );
      await Promise.all([...asked, ask('/auth/recover', 'page').expect(500)]);

      const warnings = () =>
        gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
      const notSent = async () => valuesOf(await scrape(gateway), 'sounds_mails_not_sent_total');
      await expect.poll(() => warnings().length).toBe(8); // those that come after half a second follow the response
      for (const code of Object.keys(statuses)) {
        const ofCode = warnings().filter(({ requestId }) => requestId === `of-${code}`);
        const reasons = ofCode.map(({ type, reason }) => `${type} ${reason}`);
        expect(reasons.sort()).toEqual([`recovery ${code}`, `signup ${code}`]);
      }
      expect(await notSent()).toEqual({ '': 8 });

      for (const { socket } of held) socket?.destroy();
      await expect.poll(notSent).toEqual({ '': 10 });
      const ofSlow = warnings().filter(({ requestId }) => requestId === 'of-slow');
      expect(ofSlow.map(({ type, err }) => [type, err.message]).sort()).toEqual([
        ['recovery', expect.stringContaining('No response from /auth/v1/recover')],
        ['signup', expect.stringContaining('No response from /auth/v1/resend')],
      ]);
    },
    { METRICS_PORT: '0' },
  );
});
