import type { RequestListener, ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { type Api, apiAt, bearer } from './support/api.ts';
import { withSupabase } from './support/fake-supabase.ts';
import { startGateway } from './support/gateway.ts';
import { scrape, valuesOf } from './support/metrics.ts';
import { canRunRedis, startRedis } from './support/redis.ts';
import { type Session, test } from './support/test.ts';

const remaining = async (api: Api, { access_token }: Session) => {
  const { headers } = await api.get('/home').auth(access_token, bearer).expect(200);
  return Number(headers['x-ratelimit-remaining']);
};

const limited = (REDIS_URL: string) =>
  startGateway({ REDIS_URL, RATE_LIMIT_PER_MINUTE: '1000', LOG_LEVEL: 'debug' });

/** Waits until one gateway shows what the other has counted. */
async function untilShared(one: Api, other: Api, user: Session) {
  await expect
    .poll(async () => (await remaining(one, user)) - (await remaining(other, user)), { timeout: 5000 })
    .toBe(1);
}

describe('rate limits with Redis', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.'),
  );

  test('are one budget for all gateways', async ({ user }) => {
    const redis = await startRedis();
    const [first, second] = [await limited(redis.url), await limited(redis.url)];
    await untilShared(apiAt(first.url), apiAt(second.url), user);
    const before = await remaining(apiAt(first.url), user);
    for (let count = 1; count <= 5; count++) {
      expect(await remaining(apiAt(second.url), user)).toBe(before - 2 * count + 1);
      expect(await remaining(apiAt(first.url), user)).toBe(before - 2 * count);
    }
    await Promise.all([first.close(), second.close()]);
    await redis.stop();
  });

  test('survive a Redis that is killed under load, and are shared again when it returns', async ({
    user,
  }) => {
    const redis = await startRedis();
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    const [first, second] = [apiAt(gateways[0].url), apiAt(gateways[1].url)];
    await untilShared(first, second, user);

    const traffic = { on: true, requests: 0 };
    const clients = [first, second, first, second].map(async (api) => {
      while (traffic.on) {
        await api.get('/nope').auth(user.access_token, bearer).expect(404);
        traffic.requests += 1;
      }
    });
    await expect.poll(() => traffic.requests).toBeGreaterThan(50);
    await redis.stop();
    const atTheKill = traffic.requests;
    await expect.poll(() => traffic.requests).toBeGreaterThan(atTheKill + 50);
    const again = await startRedis(redis.port);
    traffic.on = false;
    await Promise.all(clients);

    // Each counting alone, the two may differ by one as well, by chance: so this first.
    const redisLines = () => gateways[0].logged.filter((line) => line.includes('Redis is'));
    await expect
      .poll(() => redisLines().map((line) => JSON.parse(line).msg))
      .toEqual([
        'Redis is connected: rate limits are shared',
        'Redis is out of reach: each process limits by itself',
        'Redis is connected: rate limits are shared',
      ]);
    await untilShared(first, second, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await again.stop();
  });

  test('do not wait for a Redis that is missing at the start, and use it once it is there', async ({
    user,
  }) => {
    const gone = await startRedis();
    await gone.stop();
    const [first, second] = [await limited(gone.url), await limited(gone.url)];
    await remaining(apiAt(first.url), user);
    const redis = await startRedis(gone.port);
    await untilShared(apiAt(first.url), apiAt(second.url), user);
    await Promise.all([first.close(), second.close()]);
    await redis.stop();
  });

  test('are shared even if Redis fails at first while the store is set up', async ({ user }) => {
    const redis = await startRedis();
    const admin = new Redis(redis.url);
    await admin.acl('SETUSER', 'default', '-script');
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    for (const { logged } of gateways)
      await expect.poll(() => logged.join('')).toContain('could not be set up');
    const [first, second] = [apiAt(gateways[0].url), apiAt(gateways[1].url)];
    await remaining(first, user);
    await admin.acl('SETUSER', 'default', '+script');
    await untilShared(first, second, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    admin.disconnect();
    await redis.stop();
  });

  test('do not wait for a Redis that does not answer, except for the first request that notices', async ({
    user,
  }) => {
    const redis = await startRedis();
    const gateway = await limited(redis.url);
    await remaining(apiAt(gateway.url), user);
    redis.signal('SIGSTOP');
    const inVain = () => gateway.logged.filter((line) => line.includes('counted in this process'));
    const triesToUseIt = () => gateway.logged.filter((line) => line.includes('could not be set up'));
    for (let count = 0; count < 20; count++) await remaining(apiAt(gateway.url), user);
    await expect.poll(() => triesToUseIt().length, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    await remaining(apiAt(gateway.url), user);
    expect(inVain()).toHaveLength(1); // the request that found Redis frozen
    const longestMs = Math.max(...gateway.logged.map((line) => JSON.parse(line).durationMs ?? 0));
    expect(longestMs).toBeLessThan(1000);
    redis.signal('SIGCONT');
    await gateway.close();
    await redis.stop();
  });

  test('take back in this process what was counted there while Redis was away', async () => {
    const away = await startRedis();
    await away.stop();
    const asked = Promise.withResolvers<ServerResponse>();
    let calls = 0;
    const behave: RequestListener = (_req, res) => {
      calls += 1;
      if (calls === 1) asked.resolve(res);
      else res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"code":"invalid_credentials"}');
    };
    await withSupabase(
      behave,
      async (api, gateway) => {
        const signIn = (email: string) => api.post('/auth/signin').send({ email, password: 'secret' });
        const first = signIn('first@example.com').expect(500).then();
        const held = await asked.promise;
        const redis = await startRedis(away.port);
        await expect
          .poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared'))
          .toEqual({ '': 1 });
        held.writeHead(500).end(); // no failure of the client: its count is taken back
        await first;
        await signIn('second@example.com').expect(401);
        const client = new Redis(redis.url);
        const keys = await client.keys('sounds:rate-limit:failedSignIns:*');
        expect(await client.mget(keys)).toEqual(['1']);
        client.disconnect();
        await redis.stop();
      },
      { REDIS_URL: away.url, METRICS_PORT: '0' },
    );
  });
});
