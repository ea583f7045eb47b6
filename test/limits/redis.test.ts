import type { RequestListener, ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { watchLag } from '../support/lag.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { type Session, test } from '../support/test.ts';

const remaining = async ({ url }: Gateway, { access_token }: Session) => {
  const { headers } = await apiAt(url).get('/nope').auth(access_token, bearer).expect(404);
  return Number(headers['x-ratelimit-remaining']);
};

const limited = (REDIS_URL: string) =>
  startGateway({ REDIS_URL, RATE_LIMIT_PER_MINUTE: '1000000', LOG_LEVEL: 'debug', METRICS_PORT: '0' });

/**
 * Waits until two gateways that are asked in turn count as one. Each alone, they may differ by one as well, by chance,
 * but not ten times in a row. One that once waited too long for Redis, on a busy machine, counts alone for a second.
 */
async function untilShared(gateways: readonly [Gateway, Gateway], user: Session) {
  const tenInTurn = async () => {
    const told: number[] = [];
    for (let turn = 0; turn < 10; turn++) told.push(await remaining(gateways[turn % 2 ? 1 : 0], user));
    return told.map((left) => Number(told[0]) - left);
  };
  await expect.poll(tenInTurn).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

describe('rate limits with Redis', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.'),
  );

  test('are one budget for all gateways', async ({ user }) => {
    const redis = await startRedis();
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    await untilShared(gateways, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await redis.stop();
  });

  test('survive a Redis that is killed under load, and are shared again when it returns', async ({
    user,
  }) => {
    const redis = await startRedis();
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    await untilShared(gateways, user);

    const traffic = { on: true, requests: 0 };
    const clients = [...gateways, ...gateways].map(async (gateway) => {
      while (traffic.on) {
        await remaining(gateway, user);
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

    const redisLines = () => gateways[0].logged.filter((line) => line.includes('Redis is'));
    await expect
      .poll(() => redisLines().map((line) => JSON.parse(line).msg))
      .toEqual([
        'Redis is connected: rate limits are shared',
        'Redis is out of reach: each process limits by itself',
        'Redis is connected: rate limits are shared',
      ]);
    await untilShared(gateways, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await again.stop();
  });

  test('do not wait for a Redis that is missing at the start, and use it once it is there', async ({
    user,
  }) => {
    const gone = await startRedis();
    await gone.stop();
    const gateways = [await limited(gone.url), await limited(gone.url)] as const;
    await remaining(gateways[0], user);
    const redis = await startRedis(gone.port);
    await untilShared(gateways, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await redis.stop();
  });

  test('are shared even if Redis refuses them at first, and by one that loads no scripts', async ({
    user,
  }) => {
    const redis = await startRedis();
    const admin = new Redis(redis.url);
    await admin.acl('SETUSER', 'default', '-script', '-eval');
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    for (const { logged } of gateways) await expect.poll(() => logged.join('')).toContain('out of reach');
    await remaining(gateways[0], user);
    await admin.acl('SETUSER', 'default', '+eval');
    await untilShared(gateways, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    admin.disconnect();
    await redis.stop();
  });

  const sharing = (gateway: Gateway, is: 0 | 1) =>
    expect.poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared')).toEqual({ '': is });

  const faults: [string, (redis: Awaited<ReturnType<typeof startRedis>>, admin: Redis) => unknown][] = [
    ['is frozen', (redis) => redis.signal('SIGSTOP')],
    ['is full', (_redis, admin) => admin.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction')],
    ['only reads', (_redis, admin) => admin.replicaof('127.0.0.1', 9)],
    ['is killed', (redis) => redis.stop()],
  ];
  test.for(faults)(
    'answer within 2 seconds, and go on in each process, while Redis %s',
    async ([, fail], { user }) => {
      const lag = watchLag();
      const redis = await startRedis();
      const admin = new Redis(redis.url);
      admin.on('error', () => {});
      const gateway = await limited(redis.url);
      await sharing(gateway, 1);
      const before = await remaining(gateway, user);
      await fail(redis, admin);
      const started = performance.now();
      const first = await remaining(gateway, user);
      expect((performance.now() - started) / 1000).toBeLessThan(2 + lag());
      expect(first).not.toBe(before - 2);
      await sharing(gateway, 0);
      const now = await remaining(gateway, user);
      expect(await remaining(gateway, user)).toBe(now - 1);
      expect(
        gateway.logged
          .map((line) => JSON.parse(line))
          .filter(({ level, msg }) => level === 40 && /Redis/.test(msg)),
      ).toHaveLength(1);
      admin.disconnect();
      await gateway.close();
      await redis.stop();
    },
  );

  test('take a late answer for late, not for a Redis that is out of reach', async ({ user }) => {
    const redis = await startRedis();
    const admin = new Redis(redis.url);
    const gateway = await limited(redis.url);
    await sharing(gateway, 1);
    await admin.call('CLIENT', 'PAUSE', '450');
    await remaining(gateway, user);
    await expect.poll(() => gateway.logged.join('')).toContain('No answer within 250 ms');
    await admin.ping();
    await sharing(gateway, 1);
    expect(gateway.logged.join('')).not.toContain('out of reach');
    admin.disconnect();
    await gateway.close();
    await redis.stop();
  });

  test('go on after Redis has lost its data and its scripts', async ({ user }) => {
    const redis = await startRedis();
    const admin = new Redis(redis.url);
    const gateways = [await limited(redis.url), await limited(redis.url)] as const;
    await untilShared(gateways, user);
    await admin.flushall();
    await admin.script('FLUSH');
    await untilShared(gateways, user);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    admin.disconnect();
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

  const signIn = (api: Api) =>
    api.post('/auth/signin').send({ email: 'ada@example.com', password: 'secret' });
  test('take back in Redis what was counted there after it had been away', async () => {
    const redis = await startRedis();
    await withSupabase(
      (_req, res) => sendSession(res),
      async (api, gateway) => {
        await sharing(gateway, 1);
        await redis.stop();
        await sharing(gateway, 0);
        await signIn(api).expect(200); // counted and taken back in this process
        const again = await startRedis(redis.port);
        await sharing(gateway, 1);
        for (let count = 0; count < 11; count++) await signIn(api).expect(200);
        await again.stop();
      },
      { REDIS_URL: redis.url, METRICS_PORT: '0' },
    );
  });

  test('leave no key behind in a Redis that has lost its data meanwhile', async () => {
    const redis = await startRedis();
    const asked = Promise.withResolvers<ServerResponse>();
    await withSupabase(
      (_req, res) => asked.resolve(res),
      async (api, gateway) => {
        await sharing(gateway, 1);
        const signedIn = signIn(api).expect(200).then();
        const held = await asked.promise;
        const client = new Redis(redis.url);
        const keys = () => client.keys('sounds:rate-limit:failedSignIns:*');
        expect(await keys()).toHaveLength(1);
        await client.flushall();
        sendSession(held);
        await signedIn;
        // The next command of the gateway shows that the one before has been carried out.
        await api.get('/nope').expect(404);
        expect(await keys()).toEqual([]);
        client.disconnect();
        await redis.stop();
      },
      { REDIS_URL: redis.url, METRICS_PORT: '0' },
    );
  });
});
