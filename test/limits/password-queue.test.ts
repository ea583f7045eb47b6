import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { type Api, apiAt } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import type { Gateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { environment, startListening } from '../support/server-process.ts';
import { password, test } from '../support/test.ts';

/** An Auth that holds sign-ins until it is told to answer. */
function holdingAuth() {
  const held: ServerResponse[] = [];
  const seen = { most: 0, names: [] as string[] };
  const behave: RequestListener = async (req, res) => {
    const { email } = JSON.parse(await text(req)) as { email: string };
    seen.names.push(email.replace(/@.*/, ''));
    seen.most = Math.max(seen.most, held.push(res));
  };
  const answerOne = () => {
    const [res] = held.splice(0, 1);
    if (res) sendSession(res);
  };
  /** Answers one after the other until all of these have been. */
  async function answerUntil(all: Promise<number>[]): Promise<number[]> {
    let ended = 0;
    for (const one of all) void one.then(() => ended++);
    while (ended < all.length) {
      answerOne();
      await nextTurn();
    }
    return Promise.all(all);
  }
  return { behave, held, seen, answerOne, answerUntil };
}

const signIn = (api: Api, ip: string, name: string): Promise<number> =>
  api
    .post('/auth/signin')
    .set('X-Forwarded-For', ip)
    .send({ email: `${name}@example.com`, password })
    .then(({ status }) => status);

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Waits until so many requests have come to the queue; the last of them is one of another kind, that ends behind them. */
async function untilQueued(api: Api, gateway: Gateway, count: number) {
  await expect.poll(() => gateway.arrived()).toBe(count);
  await api.get('/nope').expect(404);
}

describe('a client with hundreds of password calls in the queue', () => {
  const noisy = '2001:db8::1';

  test('leaves three quarters of the places to others, who need not wait for one of its calls to end', async () => {
    const { behave, held, seen, answerUntil } = holdingAuth();
    await withSupabase(
      behave,
      async (api, gateway) => {
        const many = times(200, (index) => signIn(api, noisy, `many-${index}`));
        await untilQueued(api, gateway, 200);
        await expect.poll(() => seen.names.length).toBe(4);
        const others = times(12, (index) => signIn(api, `2001:db8:${index + 1}::1`, `one-${index}`));
        await expect.poll(() => held.length).toBe(16);
        expect(seen.names.slice(4).toSorted()).toEqual(times(12, (index) => `one-${index}`).toSorted());
        await answerUntil([...many, ...others]);
        expect(seen.most).toBe(16);
      },
      { TRUST_PROXY: '1' },
    );
  });

  test('has them served after those of clients that have fewer', async () => {
    const { behave, seen, answerOne, answerUntil } = holdingAuth();
    await withSupabase(
      behave,
      async (api, gateway) => {
        const many = times(40, (index) => signIn(api, noisy, `many-${index}`));
        await untilQueued(api, gateway, 40);
        const [first, second] = times(2, (index) => signIn(api, '2001:db8:1::1', `two-${index}`));
        await untilQueued(api, gateway, 43);
        while (!seen.names.includes('two-0') || !seen.names.includes('two-1')) {
          answerOne();
          await nextTurn();
        }
        expect(seen.names.length).toBeLessThan(10);
        await answerUntil([...many, first, second].filter((one) => one !== undefined));
      },
      { PASSWORD_CALLS_AT_ONCE: '2', TRUST_PROXY: '1' },
    );
  });
});

describe('two gateways on one Redis', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to share the places of password calls.'),
  );
  const key = 'sounds:password-calls';

  /** Runs the check with two gateways in front of one Auth. */
  async function withTwo(
    REDIS_URL: string,
    behave: RequestListener,
    check: (apis: readonly [Api, Api], gateways: readonly [Gateway, Gateway]) => Promise<void>,
  ) {
    const env = { REDIS_URL, TRUST_PROXY: '1', METRICS_PORT: '0', LOG_LEVEL: 'trace' };
    const use = (one: Api, gatewayOne: Gateway) =>
      withSupabase(
        behave,
        async (other, gatewayOther) => {
          for (const gateway of [gatewayOne, gatewayOther]) await untilShared(gateway);
          await check([one, other], [gatewayOne, gatewayOther]);
        },
        env,
      );
    await withSupabase(behave, use, env);
  }

  const untilShared = (gateway: Gateway) =>
    expect.poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared')).toEqual({ '': 1 });

  /** Sign-ins of as many clients, in turn at one gateway and the other. */
  const burst = (apis: readonly [Api, Api], count: number, name: string) =>
    times(count, (index) =>
      signIn(apis[index % 2 ? 1 : 0], `10.${index % 256}.${index >> 8}.1`, `${name}-${index}`),
    );

  test('give Auth no more of 300 simultaneous sign-ins than PASSWORD_CALLS_AT_ONCE', async () => {
    const redis = await startRedis();
    const { behave, held, seen, answerUntil } = holdingAuth();
    await withTwo(redis.url, behave, async (apis, gateways) => {
      const saidAlone = () =>
        gateways.flatMap(({ logged }) => logged).filter((line) => line.includes('Redis is out of reach'));
      let statuses: number[] = [];
      const becameAlone = async () => {
        const { length } = saidAlone();
        held.length = seen.most = seen.names.length = 0;
        const all = burst(apis, 300, 'burst');
        await expect.poll(() => held.length).toBeGreaterThanOrEqual(16);
        statuses = await answerUntil(all);
        return saidAlone().length > length || statuses.includes(500);
      };
      // A machine that stalls may have a gateway take Redis for away, or a call end too late.
      await expect.poll(becameAlone).toBe(false);
      expect(seen.most).toBe(16);
      // Whom a slow machine cannot serve within 8 s is told so.
      expect(new Set(statuses).difference(new Set([200, 429]))).toEqual(new Set());
      expect(statuses.filter((status) => status === 200)).toHaveLength(seen.names.length);

      const client = new Redis(redis.url);
      await expect.poll(() => client.zcard(key)).toBe(0);
      client.disconnect();
    });
    await redis.stop();
  });

  test('keep to the bound each by itself while Redis is gone, lose no request, and share it again afterwards', async () => {
    const redis = await startRedis();
    const { behave, held, seen, answerUntil } = holdingAuth();
    await withTwo(redis.url, behave, async (apis, gateways) => {
      const all = burst(apis, 60, 'burst');
      await expect.poll(() => held.length).toBe(16);
      await redis.stop();
      await expect.poll(() => held.length).toBe(32);
      expect(new Set(await answerUntil(all))).toEqual(new Set([200]));
      expect(seen.most).toBe(32);
      expect(gateways.flatMap(({ logged }) => logged).join('')).not.toMatch(/evalsha/i);

      const again = await startRedis(redis.port);
      for (const gateway of gateways) await untilShared(gateway);
      // A machine that stalls has a gateway take Redis for away, and keep to the bound by itself for some seconds more.
      const mostOfNextBurst = async () => {
        held.length = seen.most = 0;
        const later = burst(apis, 60, 'later');
        await expect.poll(() => held.length).toBeGreaterThanOrEqual(16);
        expect(new Set(await answerUntil(later))).toEqual(new Set([200]));
        return seen.most;
      };
      await expect.poll(mostOfNextBurst).toBe(16);
      await again.stop();
    });
  });

  test('keep the permit of a call for as long as it takes', async () => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    const { behave, held, answerOne } = holdingAuth();
    await withTwo(redis.url, behave, async (apis) => {
      const [answer] = burst(apis, 1, 'slow');
      await expect.poll(() => held.length).toBe(1);
      const expiry = async () => Number((await client.zrange(key, '0', '0', 'WITHSCORES'))[1]);
      const before = await expiry();
      await expect.poll(expiry).toBeGreaterThan(before);
      answerOne();
      expect(await answer).toBe(200);
    });
    client.disconnect();
    await redis.stop();
  });

  test('serve those who wait when a gateway is killed that had all permits', async () => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    const { behave, held, answerUntil } = holdingAuth();
    const auth = createServer(behave).listen(0, '127.0.0.1');
    await once(auth, 'listening');
    const SUPABASE_URL = `http://127.0.0.1:${(auth.address() as AddressInfo).port}`;
    const env = { REDIS_URL: redis.url, TRUST_PROXY: '1' };
    const gateway = await startListening({ ...environment(), ...env, SUPABASE_URL });
    await expect.poll(() => gateway.output.stdout).toContain('Redis is connected');
    const api = apiAt(`${gateway.origin}/api/v1`);
    const lost = burst([api, api], 16, 'lost').map((one) => one.catch(() => 'lost'));
    await expect.poll(() => client.zcard(key)).toBe(16);
    gateway.child.kill('SIGKILL');
    await Promise.all([...lost, gateway.exited]);
    held.length = 0;
    await withTwo(redis.url, behave, async (apis) => {
      expect(new Set(await answerUntil(burst(apis, 8, 'late')))).toEqual(new Set([200]));
    });
    auth.close();
    client.disconnect();
    await redis.stop();
  });
});
