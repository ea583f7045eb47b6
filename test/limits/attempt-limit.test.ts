import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { unissuedKey } from '../support/api-key.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import type { Gateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { canRunRedis, startRedis } from '../support/redis.ts';
import { newEmail, password, test } from '../support/test.ts';

const signInTo = (api: Api, email: string, secret = password) =>
  api
    .post('/auth/signin')
    .send({ email, password: secret })
    .then(({ status }) => status);

const refuse = (res: ServerResponse, status: number, code: string) =>
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ code }));

function tally(statuses: readonly number[]): Record<number, number> {
  return Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([s, all]) => [s, all.length]),
  );
}

const times = <T>(count: number, make: (index: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

const shared = (gateway: Gateway) =>
  expect.poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared')).toEqual({ '': 1 });

describe('the limit of failed sign-ins', () => {
  // Without the hashing of a real Auth, which takes a busy machine longer than the deadline.
  const acceptAll: RequestListener = (req, res) => {
    req.resume();
    sendSession(res);
  };
  const email = 'ada@example.com';

  test('lets any number of good ones for one account pass at once, and the next one', async () => {
    await withSupabase(acceptAll, async (api) => {
      expect(tally(await times(30, () => signInTo(api, email)))).toEqual({ 200: 30 });
      expect(await signInTo(api, email)).toBe(200);
    });
  });

  test('lets them pass through two gateways, too', async ({ skip }) => {
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.');
    const redis = await startRedis();
    const env = { REDIS_URL: redis.url, METRICS_PORT: '0' };
    const use = (one: Api, gatewayOne: Gateway) =>
      withSupabase(
        acceptAll,
        async (other, gatewayOther) => {
          await Promise.all([gatewayOne, gatewayOther].map(shared));
          const burst = [one, other].map((at) => times(15, () => signInTo(at, email)));
          expect(tally((await Promise.all(burst)).flat())).toEqual({ 200: 30 });
          for (const at of [one, other]) expect(await signInTo(at, email)).toBe(200);
        },
        env,
      );
    await withSupabase(acceptAll, use, env);
    await redis.stop();
  });

  test('lets exactly ten guesses through that come at once, and does not count what Auth could not answer', async () => {
    let guesses = 0;
    let failure: number | undefined;
    const behave: RequestListener = async (req, res) => {
      const sent = await text(req);
      if (failure) refuse(res, failure, 'over_request_rate_limit');
      else if (sent.includes(password)) sendSession(res);
      else {
        guesses++;
        await setTimeout(50);
        refuse(res, 400, 'invalid_credentials');
      }
    };
    await withSupabase(behave, async (api) => {
      const email = newEmail();
      for (const [status, answered] of [
        [502, 500],
        [429, 429],
      ] as const) {
        failure = status;
        expect(tally(await times(12, () => signInTo(api, email)))).toEqual({ [answered]: 12 });
      }
      failure = undefined;
      expect(tally(await times(30, (n) => signInTo(api, email, `guess ${n}`)))).toEqual({ 401: 10, 429: 20 });
      expect(guesses).toBe(10);
      expect(await signInTo(api, email)).toBe(429);
    });
  });

  test('does not count an attempt that it rejects itself', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    let isHeld = true;
    const behave: RequestListener = async (req, res) => {
      if (!(await text(req)).includes(password)) refuse(res, 400, 'invalid_credentials');
      else if (isHeld) asked.resolve(res);
      else sendSession(res);
    };
    await withSupabase(behave, async (api) => {
      expect(tally(await times(9, (n) => signInTo(api, email, `guess ${n}`)))).toEqual({ 401: 9 });
      const tenth = signInTo(api, email);
      const held = await asked.promise;
      expect(await signInTo(api, email)).toBe(429);
      isHeld = false;
      sendSession(held);
      expect(await tenth).toBe(200);
      expect(await signInTo(api, email)).toBe(200);
    });
  });

  test('answers a refusal no sooner than half a second after it was asked for, and 429 at once', async () => {
    await withSupabase(
      (_req, res) => refuse(res, 400, 'invalid_credentials'),
      async (api) => {
        const email = newEmail();
        const started = performance.now();
        await times(10, () => signInTo(api, email, 'a guess'));
        expect(performance.now() - started).toBeGreaterThan(490);
        const refusedAt = performance.now();
        for (let count = 0; count < 5; count++) expect(await signInTo(api, email)).toBe(429);
        expect(performance.now() - refusedAt).toBeLessThan(5 * 490);
      },
    );
  });
});

describe('the limit of refused API keys', () => {
  const limited = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '20' };
  const answers: [string, RequestListener, Record<number, number>][] = [
    ['refuses them', (_req, res) => refuse(res, 400, 'PT401'), { 401: 20, 429: 80 }],
    ['fails', (_req, res) => refuse(res, 500, 'XX000'), { 500: 20, 429: 80 }],
  ];
  test.for(answers)(
    'lets exactly as many made-up ones reach the database at once as an address has requests, where it %s',
    async ([, behave, expected]) => {
      let asked = 0;
      await withSupabase(
        async (req, res) => {
          asked++;
          await setTimeout(50);
          behave(req, res);
        },
        async (api) => {
          const tried = times(100, (n) => api.get('/me').auth(unissuedKey(n), bearer));
          expect(tally((await tried).map(({ status }) => status))).toEqual(expected);
          expect(asked).toBe(20);
        },
        limited,
      );
    },
  );

  test('and the general one are exact for requests that come in one packet', async () => {
    await withSupabase(
      (_req, res) => refuse(res, 400, 'PT401'),
      async (_api, { port }) => {
        /** What 21 requests in one packet are answered with. */
        const statusesOf = async (path: string, headers: (n: number) => string) => {
          const requests = Array.from(
            { length: 21 },
            (_, n) => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n${headers(n)}`,
          );
          const socket = connect(port, '127.0.0.1');
          await once(socket, 'connect');
          socket.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
          return tally(((await text(socket)).match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? []).map(Number));
        };
        expect(await statusesOf('/nope', () => '')).toEqual({ 404: 20, 429: 1 });
        const withKey = (n: number) => `Authorization: Bearer ${unissuedKey(n)}\r\n`;
        expect(await statusesOf('/me', withKey)).toEqual({ 401: 20, 429: 1 });
      },
      limited,
    );
  });
});
