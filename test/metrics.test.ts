import type { ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { endpoints } from '../src/app.ts';
import { withSupabase } from './support/fake-supabase.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { scrape, valuesOf } from './support/metrics.ts';
import { canRunRedis, startRedis } from './support/redis.ts';
import { apiOf, newEmail, password, test } from './support/test.ts';

/** Counting ends a moment after the answer. */
const untilCounted = (gateway: Gateway, name: string, values: Record<string, number>) =>
  expect.poll(async () => valuesOf(await scrape(gateway), name)).toEqual(values);

const measured = (env: Record<string, string> = {}) => startGateway({ METRICS_PORT: '0', ...env });

const requestsOf = 'sounds_http_request_duration_seconds_count';
const upstreamCalls = 'sounds_upstream_request_duration_seconds_count';
const decisions = 'sounds_rate_limit_decisions_total';

describe('metrics', () => {
  test('count requests by operation and status, and calls to Supabase by service and outcome', async ({
    user,
  }) => {
    const gateway = await measured();
    const api = apiOf(gateway);
    const token = user.access_token;
    await api.get('/home', { token });
    await api.get('/home', { token });
    await api.get('/home');
    await api.post('/auth/signin', { body: { email: newEmail(), password } });
    await untilCounted(gateway, requestsOf, { 'getHome 200': 2, 'getHome 401': 1, 'signIn 401': 1 });
    // Two homes, and one note of when the user was last seen.
    await untilCounted(gateway, upstreamCalls, { 'data ok': 3, 'auth refused': 1 });
    await gateway.close();
  });

  test('count what is no endpoint as one operation, whatever its address, and probes not at all', async () => {
    const gateway = await measured();
    const api = apiOf(gateway);
    for (let count = 0; count < 20; count++) await api.get(`/nope/${count}`);
    await api.send('PUT', '/sounds');
    for (const probe of ['/healthz', '/readyz']) {
      await (await fetch(new URL(probe, gateway.url))).text();
    }
    await untilCounted(gateway, requestsOf, { 'none 404': 20, 'none 405': 1 });
    await gateway.close();
  });

  test('count a client that went away apart from every status', async ({ user }) => {
    const leaving = new AbortController();
    const unanswered: ServerResponse[] = [];
    await withSupabase(
      (_req, res) => {
        unanswered.push(res);
        leaving.abort();
      },
      async (_api, gateway) => {
        const headers = { Authorization: `Bearer ${user.access_token}` };
        await expect(fetch(`${gateway.url}/sounds`, { headers, signal: leaving.signal })).rejects.toThrow();
        await untilCounted(gateway, requestsOf, { 'listSounds aborted': 1 });
        for (const res of unanswered) res.end();
      },
      { METRICS_PORT: '0' },
    );
  });

  test('tell a Supabase that fails from one that does not answer', async () => {
    const failing = async (env: Record<string, string>) => {
      const gateway = await measured(env);
      await apiOf(gateway).get('/categories');
      const outcomes = valuesOf(await scrape(gateway), upstreamCalls);
      await gateway.close();
      return outcomes;
    };
    expect(await failing({ SUPABASE_URL: 'http://127.0.0.1:9' })).toEqual({ 'data unanswered': 1 });
    await withSupabase(
      (_req, res) => res.writeHead(503).end(),
      async (api, gateway) => {
        await api.get('/categories');
        expect(valuesOf(await scrape(gateway), upstreamCalls)).toEqual({ 'data failed': 1 });
      },
      { METRICS_PORT: '0' },
    );
  });

  test('count decisions of rate limits by what was counted', async ({ user }) => {
    const gateway = await measured({ RATE_LIMIT_PER_MINUTE: '2' });
    const api = apiOf(gateway);
    for (let count = 0; count < 3; count++) await api.get('/home', { token: user.access_token });
    await api.get('/categories');
    await api.signUp();
    await api.post('/auth/signin', { body: { email: newEmail(), password } });
    expect(valuesOf(await scrape(gateway), decisions)).toEqual({
      'user allowed': 2,
      'user limited': 1,
      'address allowed': 3,
      'sign_up allowed': 1,
      'sign_in allowed': 1,
    });
    await gateway.close();
  });

  test('count reads that were answered by the run of another', async ({ user }) => {
    const gateway = await measured();
    const read = () => apiOf(gateway).get('/home', { token: user.access_token });
    await Promise.all(Array.from({ length: 20 }, read));
    const collapsed = async () => valuesOf(await scrape(gateway), 'sounds_collapsed_reads_total')[''];
    expect(await collapsed()).toBeGreaterThan(0);
    const before = await collapsed();
    await read();
    expect(await collapsed()).toBe(before);
    await gateway.close();
  });

  test('hold the event-loop lag, and no more series than operations, statuses and buckets allow', async () => {
    const gateway = await measured();
    const api = apiOf(gateway);
    for (const { method, path } of endpoints) {
      await api.send(method.toUpperCase(), path.replace(/\{\w+\}/, 'x'), { token: 'x' });
    }
    const samples = await scrape(gateway);
    expect(valuesOf(samples, 'nodejs_eventloop_lag_p99_seconds')['']).toBeGreaterThan(0);
    expect(samples.length).toBeLessThan(1000);
    await gateway.close();
  });

  test('are served at their own port and address alone', async () => {
    const gateway = await measured();
    const { port } = new URL(gateway.metricsUrl ?? '');
    for (const address of [`http://127.0.0.1:${gateway.port}/metrics`, `http://127.0.0.1:${port}/healthz`]) {
      const response = await fetch(address);
      await response.text();
      expect(response.status).toBe(404);
    }
    await gateway.close();
  });
});

describe('metrics with Redis', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.'),
  );

  test('say whether rate limits are shared, through a Redis that freezes, refuses to write, dies and returns', async ({
    user,
  }) => {
    const redis = await startRedis();
    const gateway = await measured({ REDIS_URL: redis.url });
    const untilShared = (shared: 0 | 1) =>
      expect
        .poll(
          async () => {
            await apiOf(gateway).get('/home', { token: user.access_token });
            return valuesOf(await scrape(gateway), 'sounds_rate_limits_shared');
          },
          { timeout: 5000 },
        )
        .toEqual({ '': shared });
    await untilShared(1);
    redis.signal('SIGSTOP');
    await untilShared(0);
    redis.signal('SIGCONT');
    await untilShared(1);
    const admin = new Redis(redis.url);
    await admin.config('SET', 'min-replicas-to-write', '1');
    await untilShared(0);
    const scripts = async () =>
      Number(/^cmdstat_script[^=]*calls=(\d+)/m.exec(await admin.info('commandstats'))?.[1]);
    const before = await scripts();
    await expect.poll(scripts, { timeout: 5000 }).toBeGreaterThan(before); // it is set up anew, which works
    expect(valuesOf(await scrape(gateway), 'sounds_rate_limits_shared')).toEqual({ '': 0 });
    await admin.config('SET', 'min-replicas-to-write', '0');
    admin.disconnect();
    await untilShared(1);
    await redis.stop();
    await untilShared(0);
    const again = await startRedis(redis.port);
    await untilShared(1);
    await gateway.close();
    await again.stop();
  });
});
