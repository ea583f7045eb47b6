import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Response } from 'supertest';
import { describe, expect, inject } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { codeSentTo } from '../support/mail.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';

const { mailUrl } = inject('stack');
const noMail = 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.';

const confirming = testWithConfirmations();

const newPassword = 'another correct horse';

async function recoveryCode(api: Api, email: string): Promise<string> {
  await api
    .post('/auth/recover')
    .send({ email })
    .expect(200, { data: { ok: true } });
  return codeSentTo(mailUrl, email);
}

const verify = (api: Api, email: string, code: string, type = 'recovery') =>
  api.post('/auth/verify').send({ type, email, code, ...(type === 'signup' && { password }) });

const refresh = (api: Api, { refresh_token }: Session) => api.post('/auth/refresh').send({ refresh_token });

const other = (code: string) => String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

describe('a forgotten password', () => {
  test.beforeEach(({ skip }) => skip(!mailUrl, noMail));

  test('is replaced with the code of a mail; other sessions end, the one of the code lives on', async ({
    api,
  }) => {
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

  test('is not replaced with a code that is wrong, used or of another kind or address: one 401 for all', async ({
    api,
  }) => {
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

  test('of a deactivated customer opens no session', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const code = await recoveryCode(api, user.email);
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    await verify(api, user.email, code).expect(401);
  });
});

describe('a new password', () => {
  test('must be another one, and long enough', async ({ api }) => {
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
      .send({ password: newPassword, current_password: null }) // as some encoders send what is absent
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
  test.for(rejections)('that Auth rejects with %i %s is %i', async ([status, code, expected, ...answer]) => {
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
  });
});

describe('the password that is sent with the code of a sign-up', () => {
  test('is required, and follows the rules of sign-up; so does the name', async ({ api }) => {
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

  /** A gateway whose Auth takes the code, and answers the new password so; and what confirming an address gets there. */
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

  test('is rejected with the reason and the way out, since the code is used up', async () => {
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
    'that was perhaps not saved is told as 500 with the way out: %s',
    async ([, password, customer]) => {
      const answer = await answerTo([...password], customer);
      expect(answer?.status).toBe(500);
      expect(answer?.body.error.message).toMatch(/^The address is confirmed.*use "forgot password"\.$/);
    },
  );

  test('is saved where the same request came first at another gateway; a session that another one ended opens nothing', async () => {
    expect((await answerTo([422, 'same_password']))?.status).toBe(200);
    expect((await answerTo([403, 'session_not_found']))?.status).toBe(401);
  });
});

describe('whether there is an account', () => {
  test('does not show when a code is asked for, also twice in a moment', async ({ api, sql }) => {
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
    'does not show when Auth sends no mail: %i %s is a warning in the log and a metric',
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
          await expect.poll(() => warnings().length).toBe(2); // slower than half a second, it is told later
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

  test('does not show in the time that an answer takes: a slow mail is sent behind it, and missed in the log', async () => {
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
            const started = performance.now();
            await api
              .post(path)
              .send({ email })
              .expect(200, { data: { ok: true } });
            expect(performance.now() - started).toBeGreaterThan(490);
          }
        }
        const notSent = async () => valuesOf(await scrape(gateway), 'sounds_mails_not_sent_total');
        expect(await notSent()).toEqual({ '': 0 });
        for (const { socket } of slow) socket?.destroy();
        await expect.poll(notSent).toEqual({ '': 2 });
        const warnings = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
        expect(warnings.map(({ type, err }) => [type, err.message]).sort()).toEqual([
          ['recovery', expect.stringContaining('No answer from /auth/v1/recover')],
          ['signup', expect.stringContaining('No answer from /auth/v1/resend')],
        ]);
      },
      { METRICS_PORT: '0' },
    );
  });

  test('does not show, but that Auth is away, or takes no more requests from this address, does', async () => {
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
        // Known after half a second, as on a machine that is busy for a moment, it does not show.
        const asked = async () => (await api.post('/auth/recover').send({ email: newEmail() })).status;
        await expect.poll(asked).toBe(status);
      });
    }
  });
});

describe('the limits of passwords, codes and mails', () => {
  const trusting = { TRUST_PROXY: '1' };
  const from = (address: number) => ['X-Forwarded-For', `203.0.113.${address}`] as const;

  test('let a stranger try ten codes an hour for one account, on all gateways, and do not keep its owner out', async ({
    skip,
  }) => {
    skip(!mailUrl, noMail);
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.');
    const redis = await startRedis();
    const gateways = [1, 2].map(() =>
      startGateway({ ...trusting, REDIS_URL: redis.url, METRICS_PORT: '0', LOG_LEVEL: 'debug' }),
    );
    const [first, second] = await Promise.all(gateways);
    if (!first || !second) throw new Error('Two gateways were started.');
    for (const gateway of [first, second])
      await expect
        .poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared'))
        .toEqual({ '': 1 });
    const apis = [apiAt(first.url), apiAt(second.url)] as const;
    const { email } = (await signUp(apis[0])).user;
    const code = await recoveryCode(apis[0], email);
    let failed = 0;
    const guess = async () => {
      const api = apis[failed % 2 === 0 ? 0 : 1];
      const { status } = await verify(api, email, other(code)).set(...from(1));
      if (status === 401) failed += 1;
      return status;
    };
    while ((await guess()) === 401);
    // One that waited too long for Redis, on a busy machine, was counted by its gateway alone.
    const countedAlone = [...first.logged, ...second.logged].filter((line) =>
      line.includes('in this process'),
    );
    expect(failed).toBeGreaterThanOrEqual(10);
    expect(failed).toBeLessThanOrEqual(10 + countedAlone.length);
    for (const api of apis) {
      const { headers } = await verify(api, email.toUpperCase(), code)
        .set(...from(1))
        .expect(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(3_000);
    }
    await verify(apis[0], newEmail(), code)
      .set(...from(1))
      .expect(401); // other accounts are not in it
    await verify(apis[1], email, code)
      .set(...from(2))
      .expect(200);
    await Promise.all([first.close(), second.close()]);
    await redis.stop();
  });

  test('let a hundred codes and two hundred passwords an hour fail for one account, however many addresses they come from', async () => {
    const reject: RequestListener = (_req, res) =>
      res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"code":"invalid_credentials"}');
    await withSupabase(
      reject,
      async (api) => {
        const email = 'ada@example.com';
        const guesses = {
          100: (client: string) => verify(api, email, '12345678').set('X-Forwarded-For', client),
          200: (client: string) =>
            api.post('/auth/signin').send({ email, password: 'a guess' }).set('X-Forwarded-For', client),
        };
        for (const [limit, guess] of Object.entries(guesses)) {
          const tried = Array.from({ length: Number(limit) + 1 }, (_, n) =>
            // Of IPv6 a /56 is one client.
            guess(`2001:db8:0:${Math.floor(n / 10).toString(16)}${String(n % 10).padStart(2, '0')}::1`),
          );
          const statuses = (await Promise.all(tried)).map(({ status }) => status);
          const count = (status: number) => statuses.filter((one) => one === status).length;
          expect([count(401), count(429)]).toEqual([Number(limit), 1]);
        }
      },
      trusting,
    );
  });

  test('stop one session after ten rejected passwords an hour, not its owner in another; accepted ones do not count', async () => {
    await withSupabase(
      async (req, res) => {
        const { current_password } = (await json(req)) as { current_password: string };
        const [status, body] =
          current_password === password ? [200, {}] : [400, { code: 'current_password_invalid' }];
        res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      },
      async (api) => {
        const sessionOf = (user: string, session_id = randomUUID()) => token(user, { session_id });
        const [owner, session] = [randomUUID(), randomUUID()];
        const [stolen, own] = [await sessionOf(owner, session), await sessionOf(owner)];
        const change = (current_password: string, accessToken = stolen) =>
          api
            .post('/auth/password')
            .auth(accessToken, bearer)
            .send({ password: newPassword, current_password });
        for (let count = 0; count < 10; count++) {
          await change(password).expect(200);
          await change('a guess').expect(400);
        }
        await change(password).expect(429);
        await change(password, await sessionOf(owner, session)).expect(429); // refreshed
        await change(password, own).expect(200);
      },
    );
  });

  test('let five mails an hour go to one address, and thirty be asked for by one client', async () => {
    const gateway = await startGateway(trusting);
    const api = apiAt(gateway.url);
    const email = newEmail();
    const ask = (path: string, address: string, client: number) =>
      api
        .post(path)
        .set(...from(client))
        .send({ email: address });
    for (let count = 0; count < 5; count++)
      await ask(count % 2 === 0 ? '/auth/recover' : '/auth/resend', email, count).expect(200);
    await ask('/auth/recover', email, 50).expect(429).expect('X-Error-Reason', 'limit_mails');
    await ask('/auth/resend', ` ${email.toUpperCase()}`, 51).expect(429);
    const asked = Array.from({ length: 30 }, () => ask('/auth/recover', newEmail(), 60).expect(200));
    await Promise.all(asked);
    await ask('/auth/recover', newEmail(), 60).expect(429);
    await ask('/auth/recover', newEmail(), 61).expect(200);
    await gateway.close();
  });

  test('do not count mails that were asked for while Auth was away or took no more', async () => {
    const reject: RequestListener = (_req, res) =>
      res.writeHead(429, { 'Content-Type': 'application/json' }).end('{"code":"over_request_rate_limit"}');
    const behaviours: RequestListener[] = [(req) => req.socket.destroy(), reject];
    let calls = 0;
    await withSupabase(
      (req, res) => {
        if (++calls <= 30) behaviours[calls % 2]?.(req, res);
        else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      },
      async (api) => {
        let email = '';
        const recover = () => api.post('/auth/recover').send({ email });
        const someWereAnswered = async () => {
          [email, calls] = [newEmail(), 0];
          const statuses: number[] = [];
          while (statuses.length < 30) statuses.push((await recover()).status);
          return statuses.includes(200);
        };
        // Where a machine stalls for half a second, the answer comes before the failure, and such a mail counts.
        await expect.poll(someWereAnswered).toBe(false);
        for (let count = 0; count < 5; count++) await recover().expect(200);
        await recover().expect(429);
      },
    );
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
