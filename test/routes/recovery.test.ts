import type { RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';
import { mailUrl, newPassword, noMail, other, recoveryCode, refresh, verify } from './mailed-codes.ts';

describe('a forgotten password', () => {
  test.beforeEach(({ skip }) => skip(!mailUrl, noMail));

  test('a mailed code replaces a forgotten password and ends other sessions', async ({ api }) => {
    const phone = await signUp(api);
    const { email } = phone.user;
    const code = await recoveryCode(api, email);
    const { body } = await verify(api, email.toUpperCase(), ` ${code} `).expect(200);
    const session: Session = body.data;
    expect(session.user).toEqual(phone.user);

    await api
      .post('/auth/password')
      .auth(session.access_token, bearer)
      .send({ password: newPassword })
      .expect(200, { data: { ok: true } });
    await refresh(api, phone).expect(401);
    await refresh(api, session).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(401);
    await api.post('/auth/signin').send({ email, password: newPassword }).expect(200);
  });

  test('a wrong, used or foreign code gets one and the same 401', async ({ api }) => {
    const { email } = (await signUp(api)).user;
    const stranger = (await signUp(api)).user.email;
    const code = await recoveryCode(api, email);
    const answers = new Set<string>();
    const rejected = async (address: string, tried: string, type?: string) => {
      const { headers, body } = await verify(api, address, tried, type).expect(401);
      answers.add(`${headers['x-error-reason']}: ${body.error.message}`);
    };
    await rejected(email, other(code));
    await rejected(email, code, 'signup');
    await rejected(stranger, code);
    await rejected(newEmail(), code);
    await verify(api, email, code).expect(200);
    await rejected(email, code);
    expect([...answers]).toEqual(['code_invalid: The code is wrong, was used already or has expired.']);
  });

  test('a mailed code of a deactivated customer gets 401', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const code = await recoveryCode(api, user.email);
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    await verify(api, user.email, code).expect(401);
  });
});

describe('a new password', () => {
  test('a new password must differ and be long enough', async ({ api }) => {
    const { access_token } = await signUp(api);
    const change = (changed: string) =>
      api.post('/auth/password').auth(access_token, bearer).send({ password: changed });
    const { body } = await change(password)
      .expect(400)
      .expect('X-Error-Reason', 'same_password')
      .expect('X-Error-Field', 'password');
    expect(body.error.message).toBe('password: must differ from the current one.');
    await change('12345').expect(400);
    await api
      .post('/auth/password')
      .auth(access_token, bearer)
      .send({ password: newPassword, current_password: null }) // some encoders send null for absent fields
      .expect(200);
  });

  const wrongCurrentPassword = [
    /^current_password: is not the password/,
    'wrong_current_password',
    'current_password',
  ] as const;
  const rejections: [number, string, number, RegExp, reason?: string, field?: string][] = [
    [422, 'weak_password', 400, /^password: too easy to guess/, 'weak_password', 'password'],
    [
      400,
      'current_password_required',
      400,
      /^current_password: is required/,
      'current_password_required',
      'current_password',
    ],
    [400, 'current_password_invalid', 400, ...wrongCurrentPassword],
    [400, 'current_password_mismatch', 400, ...wrongCurrentPassword],
    [400, 'reauthentication_needed', 401, /^Sign in again/, 'recent_sign_in_required'],
    [401, 'insufficient_aal', 400, /^The account has a second factor/, 'second_factor'],
    [403, 'session_not_found', 401, /^The access token or API key is invalid/, 'token_invalid'],
    [403, 'user_banned', 401, /^The access token or API key is invalid/, 'token_invalid'],
    [400, 'something_new', 500, /^The service could not answer/],
  ];
  test.for(rejections)(
    'a new password that Auth rejects with %i %s gets %i',
    async ([status, code, expected, ...answer]) => {
      await withSupabase(
        (_req, res) => {
          res
            .writeHead(status, { 'Content-Type': 'application/json' })
            .end(JSON.stringify({ code, message: 'what a client must not see' }));
        },
        async (api) => {
          const { body, headers } = await api
            .post('/auth/password')
            .auth(await token(), bearer)
            .send({ password: newPassword, current_password: password })
            .expect(expected);
          const [message, reason, field] = answer;
          expect(body.error.message).toMatch(message);
          expect([headers['x-error-reason'], headers['x-error-field']]).toEqual([reason, field]);
        },
      );
    },
  );
});

describe('whether there is an account', () => {
  test('a request for a code does not show whether there is an account', async ({ api, sql }) => {
    const { user: banned } = await signUp(api);
    await sql`update auth.users set banned_until = '2999-01-01' where id = ${banned.id}`;
    const addresses = [newEmail(), (await signUp(api)).user.email, banned.email];
    for (const path of ['/auth/recover', '/auth/resend']) {
      for (const email of addresses) {
        for (let time = 1; time <= 2; time++)
          await api
            .post(path)
            .send({ email })
            .expect(200, { data: { ok: true } });
      }
    }
  });

  const rejections: [number, string][] = [
    [429, 'over_email_send_rate_limit'],
    [400, 'email_address_not_authorized'],
    [422, 'email_provider_disabled'],
    [500, 'unexpected_failure'],
  ];
  test.for(rejections)(
    'a mail that Auth does not send (%i %s) is a warning and a metric',
    async ([status, code]) => {
      await withSupabase(
        (_req, res) =>
          res
            .writeHead(status, { 'Content-Type': 'application/json' })
            .end(JSON.stringify({ code, message: 'Error sending recovery email' })),
        async (api, gateway) => {
          const id = `no-mail-${code}`;
          for (const path of ['/auth/recover', '/auth/resend'])
            await api.post(path).set('X-Request-Id', id).send({ email: newEmail() }).expect(200);
          const warnings = () =>
            gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
          await expect.poll(() => warnings().length).toBe(2); // after more than half a second the warning comes later than the response
          expect(warnings()).toMatchObject([
            { requestId: id, reason: code, type: 'recovery' },
            { requestId: id, reason: code, type: 'signup' },
          ]);
          expect(valuesOf(await scrape(gateway), 'sounds_mails_not_sent_total')).toEqual({ '': 2 });
        },
        { METRICS_PORT: '0' },
      );
    },
  );

  test('a mail that Auth sends slowly delays no response, and one that fails later is logged', async () => {
    const slow: ServerResponse[] = [];
    await withSupabase(
      async (req, res) => {
        const { email } = (await json(req)) as { email: string };
        if (email === 'known@example.com') slow.push(res);
        else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      },
      async (api, gateway) => {
        for (const path of ['/auth/recover', '/auth/resend']) {
          for (const email of ['known@example.com', newEmail()]) {
            await api
              .post(path)
              .send({ email })
              .expect(200, { data: { ok: true } });
          }
        }
        const notSent = async () => valuesOf(await scrape(gateway), 'sounds_mails_not_sent_total');
        expect(await notSent()).toEqual({ '': 0 });
        for (const { socket } of slow) socket?.destroy();
        await expect.poll(notSent).toEqual({ '': 2 });
        const warnings = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
        expect(warnings.map(({ type, err }) => [type, err.message]).sort()).toEqual([
          ['recovery', expect.stringContaining('No response from /auth/v1/recover')],
          ['signup', expect.stringContaining('No response from /auth/v1/resend')],
        ]);
      },
      { METRICS_PORT: '0' },
    );
  });

  test('a request for a code shows that Auth is away or limits the client', async () => {
    const behaviours: [RequestListener, number][] = [
      [(req) => req.socket.destroy(), 500],
      [(_req, res) => res.writeHead(502).end('<h1>Bad gateway</h1>'), 500],
      [
        (_req, res) =>
          res
            .writeHead(429, { 'Content-Type': 'application/json' })
            .end('{"code":"over_request_rate_limit","message":"Too many"}'),
        429,
      ],
    ];
    for (const [behave, status] of behaviours) {
      await withSupabase(behave, async (api) => {
        await api.post('/auth/recover').send({ email: newEmail() }).expect(status);
      });
    }
  });
});
