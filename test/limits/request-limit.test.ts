import type { Response } from 'supertest';
import { describe, expect } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { test as base, password, signUp } from '../support/test.ts';
import { inOnePacket, tally } from './bursts.ts';

/** Every test gets a separate gateway with small limits. */
const test = base.extend({
  limited: fixture(async (use: (api: Api) => Promise<void>) => {
    const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '3', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' });
    await use(apiAt(gateway.url));
    await gateway.close();
  }),
});

const rateLimitHeaders = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

describe('The request limit', () => {
  test('counts down to a reset within a minute, then returns 429 with Retry-After', async ({
    limited,
    user,
  }) => {
    const send = () => limited.get('/sounds').query({ limit: 1 }).auth(user.access_token, bearer);
    for (const expected of [2, 1, 0]) {
      const [limit, remaining, reset = 0] = rateLimitHeaders(await send().expect(200));
      expect([limit, remaining]).toEqual([3, expected]);
      expect(reset - Date.now() / 1000).toBeGreaterThan(50);
      expect(reset - Date.now() / 1000).toBeLessThanOrEqual(61);
    }
    const refused = await send().expect(429).expect('X-Error-Reason', 'limit_requests');
    expect(rateLimitHeaders(refused).slice(0, 2)).toEqual([3, 0]);
    expect(Number(refused.get('Retry-After'))).toBeGreaterThan(0);
  });

  test('counts a user separately from other users and from guests at the same address', async ({
    limited,
    api,
    user,
  }) => {
    const other = await signUp(api);
    for (let count = 0; count < 4; count++) await limited.get('/home').auth(user.access_token, bearer);
    await limited.get('/home').auth(other.access_token, bearer).expect(200);
    await limited.get('/categories').expect(200);
  });

  test('counts all sessions of a user together', async ({ limited, api, user }) => {
    const { body } = await api.post('/auth/signin').send({ email: user.user.email, password }).expect(200);
    await limited.get('/home').auth(user.access_token, bearer).expect('X-RateLimit-Remaining', '2');
    await limited.get('/home').auth(body.data.access_token, bearer).expect('X-RateLimit-Remaining', '1');
  });

  test('counts guests, rejected tokens, unknown paths and methods by address', async ({ limited }) => {
    const requests = [
      () => limited.get('/categories'),
      () => limited.get('/sounds').auth('rubbish', bearer),
      () => limited.get('/nope'),
      () => limited.put('/sounds'),
      () => limited.options('/sounds'),
    ];
    for (const [index, send] of requests.entries())
      await send().expect('X-RateLimit-Remaining', `${4 - index}`);
    for (const send of requests) await send().expect(429);
  });

  test('counts all ports of an address and all addresses of an IPv6 /64 together', async () => {
    const gateway = await startGateway({ TRUST_PROXY: '1' });
    const remaining = async (address: string) => {
      const { headers } = await apiAt(gateway.url).get('/categories').set('X-Forwarded-For', address);
      return Number(headers['x-ratelimit-remaining']);
    };
    const before = await remaining('203.0.113.7');
    expect(await remaining('203.0.113.7:4711')).toBe(before - 1);
    expect(await remaining('203.0.113.7:4712')).toBe(before - 2);
    expect(await remaining('2001:db8:1:2::1')).toBe(before);
    expect(await remaining('2001:db8:1:2:3:4:5:6')).toBe(before - 1);
    expect(await remaining('2001:db8:1:3::1')).toBe(before);
    await gateway.close();
  });

  test('does not count invalid tokens for the user that they name', async ({ limited, user }) => {
    const [header, payload] = user.access_token.split('.');
    for (let count = 0; count < 4; count++) await limited.get('/home').auth(`${header}.${payload}.x`, bearer);
    await limited
      .get('/home')
      .auth(user.access_token, bearer)
      .expect(200)
      .expect('X-RateLimit-Remaining', '2');
  });
});

test('The request limit is exact for requests of one packet', async () => {
  await withSupabase(
    (_req, res) => res.end(),
    async (_api, { port }) => {
      const requests = Array(21).fill('GET /api/v1/nope HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(tally(await inOnePacket(port, requests))).toEqual({ 404: 20, 429: 1 });
    },
    { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '20' },
  );
});

test('POST /auth/refresh counts separately, so that reads from its address sign no user out', async () => {
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
