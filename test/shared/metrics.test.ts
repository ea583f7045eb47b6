import type { ServerResponse } from 'node:http';
import { decodeProtectedHeader } from 'jose';
import request from 'supertest';
import { expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { inOnePacket } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import { apiAt, bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { startRedis } from '../support/redis.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

/** Waits until metrics have these values, because a request is counted after its response. */
const untilCounted = (gateway: Gateway, name: string, values: Record<string, number>) =>
  expect.poll(async () => valuesOf(await scrape(gateway), name)).toEqual(values);

const measured = (env: Record<string, string> = {}) => startGateway({ METRICS_PORT: '0', ...env });

const requestsOf = 'sounds_http_request_duration_seconds_count';
const upstreamCalls = 'sounds_upstream_request_duration_seconds_count';
const decisions = 'sounds_rate_limit_decisions_total';

test('metrics count requests by operation without probes, and calls to Supabase by outcome', async ({ user }) => {
  const gateway = await measured();
  const api = apiAt(gateway.url);
  const token = user.access_token;
  await api.get('/home').auth(token, bearer);
  await api.get('/home').auth(token, bearer);
  await api.get('/home');
  await api.post('/auth/signin').send({ email: newEmail(), password });
  for (let count = 0; count < 20; count++) await api.get(`/nope/${count}`);
  await api.put('/sounds');
  await request(`http://127.0.0.1:${gateway.port}`).get('/readyz').expect(200);
  await untilCounted(gateway, requestsOf, {
    'getHome 200': 2,
    'getHome 401': 1,
    'signIn 401': 1,
    'none 404': 20,
    'none 405': 1,
  });
  // Two reads of the home page, one update of the last visit, and the three calls of /readyz.
  const keySet = decodeProtectedHeader(token).alg === 'HS256' ? {} : { 'keys ok': 1 };
  const calls = { 'data ok': 5, 'auth ok': 1, 'auth rejected': 1, ...keySet };
  await untilCounted(gateway, upstreamCalls, calls);
  await gateway.close();
});

test('metrics count aborted requests, and distinguish a failing Supabase from a hanging one', async () => {
  const leaving = new AbortController();
  const unanswered: ServerResponse[] = [];
  await withSupabase(
    (req, res) => {
      if (req.url?.includes('list_categories')) return res.writeHead(503).end();
      leaving.abort();
      return unanswered.push(res);
    },
    async (api, gateway) => {
      const headers = { Authorization: `Bearer ${await token()}` };
      await expect(fetch(`${gateway.url}/sounds`, { headers, signal: leaving.signal })).rejects.toThrow();
      await untilCounted(gateway, requestsOf, { 'listSounds aborted': 1 });
      for (const res of unanswered) res.destroy();
      await api.get('/categories').expect(500);
      await untilCounted(gateway, upstreamCalls, { 'data unanswered': 1, 'data failed': 1 });
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
    'failedSignInsPerNetwork allowed': 1,
    'failedSignInsInTotal allowed': 1,
    'mailsPerNetwork allowed': 1,
    'mailsToAddress allowed': 1,
    'signIns allowed': 1,
  });
  await gateway.close();
});

test('metrics count shared reads, include the event-loop lag, and have few series', async () => {
  const gateway = await measured();
  const api = apiAt(gateway.url);
  const coalesced = async () => valuesOf(await scrape(gateway), 'sounds_coalesced_reads_total')[''];
  await api.get('/categories');
  expect(await coalesced()).toBe(0);
  await inOnePacket(gateway.port, Array(20).fill('GET /api/v1/categories HTTP/1.1\r\nHost: x\r\n\r\n'));
  expect(await coalesced()).toBeGreaterThan(0);
  for (const { method, path } of endpoints) await api[method](path.replace(/\{\w+\}/, 'x')).auth('x', bearer);
  const samples = await scrape(gateway);
  expect(valuesOf(samples, 'nodejs_eventloop_lag_p99_seconds')['']).toBeGreaterThan(0);
  expect(samples.length).toBeLessThan(1000);
  const { origin } = new URL(gateway.metricsUrl ?? '');
  await request(`http://127.0.0.1:${gateway.port}`).get('/metrics').expect(404);
  await request(origin).get('/healthz').expect(404);
  await gateway.close();
});

test('metrics show when Redis fails and when it is back, even without requests', { tags: ['redis'] }, async () => {
  const redis = await startRedis();
  const gateway = await measured({ REDIS_URL: redis.url });
  const shared = async () => valuesOf(await scrape(gateway), 'sounds_rate_limits_shared');
  await expect.poll(shared).toEqual({ '': 1 });
  redis.signal('SIGSTOP');
  await apiAt(gateway.url).get('/categories').expect(200);
  expect(await shared()).toEqual({ '': 0 });
  redis.signal('SIGCONT');
  await expect.poll(shared).toEqual({ '': 1 });
  await gateway.close();
  await redis.stop();
});
