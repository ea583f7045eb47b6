import type { ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { decodeProtectedHeader } from 'jose';
import request from 'supertest';
import { describe, expect } from 'vitest';
import { endpoints } from '../src/app.ts';
import { token } from './support/access-token.ts';
import { apiAt, bearer } from './support/api.ts';
import { withSupabase } from './support/fake-supabase.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { scrape, valuesOf } from './support/metrics.ts';
import { canRunRedis, startRedis } from './support/redis.ts';
import { newEmail, password, signUp, test } from './support/test.ts';

/** Waits: a request is counted a moment after its answer. */
const untilCounted = (gateway: Gateway, name: string, values: Record<string, number>) =>
  expect.poll(async () => valuesOf(await scrape(gateway), name)).toEqual(values);

const measured = (env: Record<string, string> = {}) => startGateway({ METRICS_PORT: '0', ...env });

const requestsOf = 'sounds_http_request_duration_seconds_count';
const upstreamCalls = 'sounds_upstream_request_duration_seconds_count';
const decisions = 'sounds_rate_limit_decisions_total';

describe('metrics', () => {
  test('metrics count requests by operation and calls to Supabase by outcome', async ({ user }) => {
    const gateway = await measured();
    const api = apiAt(gateway.url);
    const token = user.access_token;
    await api.get('/home').auth(token, bearer);
    await api.get('/home').auth(token, bearer);
    await api.get('/home');
    await api.post('/auth/signin').send({ email: newEmail(), password });
    await untilCounted(gateway, requestsOf, { 'getHome 200': 2, 'getHome 401': 1, 'signIn 401': 1 });
    // Two homes, and one note of when the user was last seen.
    const keySet = decodeProtectedHeader(token).alg === 'HS256' ? {} : { 'keys ok': 1 };
    await untilCounted(gateway, upstreamCalls, { 'data ok': 3, 'auth rejected': 1, ...keySet });
    await gateway.close();
  });

  test('metrics count unknown paths as one operation, and no probes', async () => {
    const gateway = await measured();
    const api = apiAt(gateway.url);
    for (let count = 0; count < 20; count++) await api.get(`/nope/${count}`);
    await api.put('/sounds');
    for (const probe of ['/healthz', '/readyz']) {
      await request(`http://127.0.0.1:${gateway.port}`).get(probe).expect(200);
    }
    await untilCounted(gateway, requestsOf, { 'none 404': 20, 'none 405': 1 });
    await gateway.close();
  });

  test('metrics count aborted requests apart from every status', async () => {
    const leaving = new AbortController();
    const unanswered: ServerResponse[] = [];
    await withSupabase(
      (_req, res) => {
        unanswered.push(res);
        leaving.abort();
      },
      async (_api, gateway) => {
        const headers = { Authorization: `Bearer ${await token()}` };
        await expect(fetch(`${gateway.url}/sounds`, { headers, signal: leaving.signal })).rejects.toThrow();
        await untilCounted(gateway, requestsOf, { 'listSounds aborted': 1 });
        for (const res of unanswered) res.end();
      },
      { METRICS_PORT: '0' },
    );
  });

  test('metrics distinguish a Supabase that fails from a silent one', async () => {
    const failing = async (env: Record<string, string>) => {
      const gateway = await measured(env);
      await apiAt(gateway.url).get('/categories');
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

  test('metrics count the decisions of each rate limit', async ({ user }) => {
    const gateway = await measured({ RATE_LIMIT_PER_MINUTE: '2' });
    const api = apiAt(gateway.url);
    for (let count = 0; count < 3; count++) await api.get('/home').auth(user.access_token, bearer);
    await api.get('/categories');
    await signUp(api);
    await api.post('/auth/signin').send({ email: newEmail(), password });
    await untilCounted(gateway, decisions, {
      'user allowed': 2,
      'user limited': 1,
      'address allowed': 3,
      'signUps allowed': 1,
      'failedSignInsPerClient allowed': 1,
      'failedSignIns allowed': 1,
      'failedSignInsPerHour allowed': 1,
      'failedSignInsInTotal allowed': 1,
      'mailsToAddress allowed': 1,
    });
    await gateway.close();
  });

  test('metrics count reads that shared the call of another', async ({ user }) => {
    const gateway = await measured();
    const read = () => apiAt(gateway.url).get('/home').auth(user.access_token, bearer);
    await Promise.all(Array.from({ length: 20 }, read));
    const coalesced = async () => valuesOf(await scrape(gateway), 'sounds_coalesced_reads_total')[''];
    expect(await coalesced()).toBeGreaterThan(0);
    const before = await coalesced();
    await read();
    expect(await coalesced()).toBe(before);
    await gateway.close();
  });

  test('metrics include the event-loop lag and a bounded number of series', async () => {
    const gateway = await measured();
    const api = apiAt(gateway.url);
    for (const { method, path } of endpoints) {
      await api[method](path.replace(/\{\w+\}/, 'x')).auth('x', bearer);
    }
    const samples = await scrape(gateway);
    expect(valuesOf(samples, 'nodejs_eventloop_lag_p99_seconds')['']).toBeGreaterThan(0);
    expect(samples.length).toBeLessThan(1000);
    await gateway.close();
  });

  test('metrics are served on their own port and path alone', async () => {
    const gateway = await measured();
    const { port } = new URL(gateway.metricsUrl ?? '');
    await request(`http://127.0.0.1:${gateway.port}`).get('/metrics').expect(404);
    await request(`http://127.0.0.1:${port}`).get('/healthz').expect(404);
    await gateway.close();
  });
});

describe('metrics with Redis', () => {
  test.beforeEach(({ skip }) =>
    skip(!canRunRedis, 'Install redis-server or valkey-server to share rate limits.'),
  );

  // Redis fails and returns five times, each of which the gateway notices after up to a second.
  test('metrics show whether limits are shared while Redis fails and returns', {
    timeout: 60_000,
  }, async ({ user }) => {
    const redis = await startRedis();
    const gateway = await measured({ REDIS_URL: redis.url });
    const untilShared = (shared: 0 | 1) =>
      expect
        .poll(async () => {
          await apiAt(gateway.url).get('/home').auth(user.access_token, bearer);
          return valuesOf(await scrape(gateway), 'sounds_rate_limits_shared');
        })
        .toEqual({ '': shared });
    await untilShared(1);
    redis.signal('SIGSTOP');
    await untilShared(0);
    redis.signal('SIGCONT');
    await untilShared(1);
    const admin = new Redis(redis.url);
    await admin.config('SET', 'min-replicas-to-write', '1');
    await untilShared(0);
    await admin.config('SET', 'min-replicas-to-write', '0');
    admin.disconnect();
    // Nobody needs to ask for it: a gateway without requests must not be alarmed about for ever.
    await expect
      .poll(async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared'))
      .toEqual({ '': 1 });
    await redis.stop();
    await untilShared(0);
    const again = await startRedis(redis.port);
    await untilShared(1);
    await gateway.close();
    await again.stop();
  });
});
