import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { watchLag } from '../support/lag.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { newEmail, password, test } from '../support/test.ts';

const times = <T>(count: number, make: (index: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

const signIn = (api: Api, ip: string, email: string, secret = password) =>
  api
    .post('/auth/signin')
    .set('X-Forwarded-For', ip)
    .send({ email, password: secret })
    .then(({ status, headers }) => ({ status, reason: headers['x-error-reason'] }));

/** An Auth that knows one password. */
const knowsOne: RequestListener = async (req, res) => {
  const sent = await text(req);
  if (sent.includes(password)) sendSession(res);
  else res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"code":"invalid_credentials"}');
};

/** An Auth that holds sign-ins until it is told to answer. */
function holdingAuth() {
  const held = new Map<string, ServerResponse>();
  const behave: RequestListener = async (req, res) => {
    const { email } = JSON.parse(await text(req)) as { email: string };
    held.set(email, res);
  };
  return { held, behave };
}

describe('the owner of an account', () => {
  test('signs in from home while strangers at many addresses guess, and from elsewhere only when they stop', async () => {
    await withSupabase(
      knowsOne,
      async (api) => {
        const email = newEmail();
        expect(await signIn(api, '2001:db8:1:100::1', email)).toMatchObject({ status: 200 });
        for (let round = 0; round < 10; round++)
          await times(21, (address) => signIn(api, `10.${address}.0.1`, email, `guess ${round}`));
        expect(await signIn(api, '2001:db8:1:1ff::2', email)).toMatchObject({ status: 200 });
        expect(await signIn(api, '10.99.0.1', email)).toEqual({ status: 429, reason: 'limit_attempts' });
      },
      { TRUST_PROXY: '1' },
    );
  });

  test('is not locked out by one address, which has 30 guesses an hour however its minutes go by', async ({
    skip,
  }) => {
    skip(!canRunRedis, 'Install redis-server or valkey-server to let a minute pass at once.');
    const redis = await startRedis();
    const client = new Redis(redis.url);
    await withSupabase(
      knowsOne,
      async (api, gateway) => {
        await expect.poll(() => gateway.logged.join('')).toContain('Redis is connected');
        const email = newEmail();
        const guesses: number[] = [];
        for (let minute = 0; minute < 5; minute++) {
          for (let guess = 0; guess < 10; guess++)
            guesses.push((await signIn(api, '10.0.0.1', email, 'a guess')).status);
          await client.del(...(await client.keys('*:failedSignIns:*')));
        }
        expect(guesses.filter((status) => status === 401)).toHaveLength(30);
        expect(await signIn(api, '10.99.0.1', email)).toMatchObject({ status: 200 });
      },
      { TRUST_PROXY: '1', REDIS_URL: redis.url, LOG_LEVEL: 'info' },
    );
    client.disconnect();
    await redis.stop();
  });
});

describe('password calls in flight', () => {
  const networks: [string, (index: number) => string][] = [
    ['an IPv6 /48', (index) => `2001:db8:1:${index.toString(16)}00::1`],
    ['an IPv4 /24', (index) => `203.0.113.${index}`],
  ];
  test.for(networks)(
    'of 60 clients in %s leave three quarters of the permits to others',
    async ([, address]) => {
      const { held, behave } = holdingAuth();
      const lag = watchLag();
      await withSupabase(
        behave,
        async (api) => {
          const many = times(60, (index) => signIn(api, address(index), `many-${index}@example.com`));
          await expect.poll(() => held.size).toBe(4);
          const started = performance.now();
          const user = signIn(api, '2001:db8:2::1', 'user@example.com');
          await expect.poll(() => held.has('user@example.com')).toBe(true);
          const answered = held.get('user@example.com');
          if (answered) sendSession(answered);
          expect(await user).toMatchObject({ status: 200 });
          expect((performance.now() - started) / 1000).toBeLessThan(2 + lag());
          for (const res of held.values()) res.destroy();
          held.set = (_email, res) => {
            sendSession(res);
            return held;
          };
          await many;
        },
        { TRUST_PROXY: '1' },
      );
    },
  );

  test('of slow strangers do not keep the second person behind an address waiting', async () => {
    const { held, behave } = holdingAuth();
    await withSupabase(
      behave,
      async (api) => {
        const strangers = times(6, (index) => signIn(api, `10.${index}.0.1`, `slow-${index}@example.com`));
        await expect.poll(() => held.size).toBe(6);
        const people = times(2, (index) => signIn(api, '192.0.2.1', `person-${index}@example.com`));
        await expect.poll(() => held.size).toBe(8);
        for (const res of held.values()) sendSession(res);
        for (const { status } of [...(await strangers), ...(await people)]) expect(status).toBe(200);
      },
      { TRUST_PROXY: '1' },
    );
  });
});

describe('sign-ups and mails of one connection to the Internet', () => {
  const accepts: RequestListener = async (req, res) => {
    await text(req);
    if (req.url?.includes('/signup')) sendSession(res);
    else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  };
  const inHome = (network: number) => `2001:db8:1:1${network.toString(16).padStart(2, '0')}::1`;

  test('count together, in whichever of its /64 networks', async () => {
    await withSupabase(
      accepts,
      async (api) => {
        const send = (path: string, network: number) =>
          api
            .post(path)
            .set('X-Forwarded-For', inHome(network))
            .send({ email: newEmail(), password })
            .then(({ status }) => status);
        for (const network of [1, 2, 3]) expect(await send('/auth/signup', network)).toBe(200);
        expect(await send('/auth/signup', 4)).toBe(429);
        const mails = await times(31, (network) => send('/auth/recover', network));
        expect(mails.filter((status) => status === 200)).toHaveLength(30);
      },
      { TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '3' },
    );
  });
});

test('what one phone reads does not sign out its neighbours behind one address', async () => {
  await withSupabase(
    (_req, res) => sendSession(res),
    async (api) => {
      for (let read = 0; read < 4; read++) await api.get('/nope');
      await api.get('/nope').expect(429);
      await api.post('/auth/refresh').send({ refresh_token: 'one' }).expect(200);
    },
    { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4' },
  );
});

test('a late answer of Redis lets no more password calls through than PASSWORD_CALLS_AT_ONCE', async ({
  skip,
}) => {
  skip(!canRunRedis, 'Install redis-server or valkey-server to share the permits of password calls.');
  const redis = await startRedis();
  const admin = new Redis(redis.url);
  const { held, behave } = holdingAuth();
  const env = { REDIS_URL: redis.url, TRUST_PROXY: '1', LOG_LEVEL: 'info', PASSWORD_CALLS_AT_ONCE: '4' };
  await withSupabase(
    behave,
    async (one, gatewayOne) => {
      await withSupabase(
        behave,
        async (other, gatewayOther) => {
          for (const { logged } of [gatewayOne, gatewayOther])
            await expect.poll(() => logged.join('')).toContain('Redis is connected');
          const burst = (name: string) =>
            times(12, (n) => signIn(n % 2 ? one : other, `10.${n}.0.1`, `${name}-${n}@example.com`));
          const first = burst('first');
          await expect.poll(() => held.size).toBe(4);
          await admin.call('CLIENT', 'PAUSE', '850');
          const second = burst('second');
          await admin.ping();
          await sleep(300);
          expect(held.size).toBe(4);
          held.set = (_email, res) => {
            sendSession(res);
            return held;
          };
          for (const res of held.values()) sendSession(res);
          for (const { status } of [...(await first), ...(await second)]) expect(status).toBe(200);
        },
        env,
      );
    },
    env,
  );
  admin.disconnect();
  await redis.stop();
});
