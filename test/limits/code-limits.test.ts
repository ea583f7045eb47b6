import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { mailUrl, newPassword, noMail, other, recoveryCode, verify } from '../routes/mailed-codes.ts';
import { token } from '../support/access-token.ts';
import { apiAt, bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

describe('the limits of passwords, codes and mails', () => {
  const trusting = { TRUST_PROXY: '1' };
  const from = (address: number) => ['X-Forwarded-For', `203.0.113.${address}`] as const;

  test('let an untrusted client try ten codes an hour on all gateways, and the owner pass', async ({
    skip,
  }) => {
    skip(!mailUrl, noMail);
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.');
    const redis = await startRedis();
    const gateways = [1, 2].map(() => startGateway({ ...trusting, REDIS_URL: redis.url, METRICS_PORT: '0' }));
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
    expect(failed).toBe(10);
    for (const api of apis) {
      const { headers } = await verify(api, email.toUpperCase(), code)
        .set(...from(1))
        .expect(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(3_000);
    }
    await verify(apis[0], newEmail(), code)
      .set(...from(1))
      .expect(401); // other accounts are not limited
    await verify(apis[1], email, code)
      .set(...from(2))
      .expect(200);
    await Promise.all([first.close(), second.close()]);
    await redis.stop();
  });

  test('let 100 codes and 200 passwords an hour fail for one account from all clients', async () => {
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
            // An IPv6 /56 counts as one client.
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

  test('stop one session after ten rejected passwords an hour, not another of its owner', async () => {
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

  test('five mails an hour go to one address, and thirty for one client', async () => {
    const gateway = await startGateway(trusting);
    const api = apiAt(gateway.url);
    const email = newEmail();
    // A sign-up sends no mail if addresses need no confirmation.
    await api.post('/auth/signup').send({ email, password }).expect(200);
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

  test('mails that Auth did not take do not count', async () => {
    const reject: RequestListener = (_req, res) =>
      res.writeHead(429, { 'Content-Type': 'application/json' }).end('{"code":"over_request_rate_limit"}');
    const behaviours: RequestListener[] = [(req) => req.socket.destroy(), reject];
    let calls = 0;
    await withSupabase(
      (req, res) => {
        if (++calls <= 6) behaviours[calls % 2]?.(req, res);
        else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      },
      async (api) => {
        const email = newEmail();
        const recover = () => api.post('/auth/recover').send({ email });
        for (let count = 1; count <= 3; count++) {
          await recover().expect(429);
          await recover().expect(500);
        }
        for (let count = 0; count < 5; count++) await recover().expect(200);
        await recover().expect(429);
      },
    );
  });
});
