import type { Response } from 'supertest';
import { describe, expect } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { test as base, newEmail, password, signUp } from '../support/test.ts';

/** Every test gets a gateway of its own, with budgets small enough to use up. */
const test = base.extend({
  limited: fixture(async (use: (api: Api) => Promise<void>) => {
    const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '3', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' });
    await use(apiAt(gateway.url));
    await gateway.close();
  }),
});

const rateLimitHeaders = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

describe('the rate limit', () => {
  test('counts down for each user, names a reset within a minute, then answers 429 with Retry-After', async ({
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

  test('of one user does not affect another, nor guests at the same address', async ({
    limited,
    api,
    user,
  }) => {
    const other = await signUp(api);
    for (let count = 0; count < 4; count++) await limited.get('/home').auth(user.access_token, bearer);
    await limited.get('/home').auth(other.access_token, bearer).expect(200);
    await limited.get('/categories').expect(200);
  });

  test('holds for a user across sessions', async ({ limited, api, user }) => {
    const { body } = await api.post('/auth/signin').send({ email: user.user.email, password }).expect(200);
    await limited.get('/home').auth(user.access_token, bearer).expect('X-RateLimit-Remaining', '2');
    await limited.get('/home').auth(body.data.access_token, bearer).expect('X-RateLimit-Remaining', '1');
  });

  test('of an address counts guests, refused tokens, unknown paths and methods alike', async ({
    limited,
  }) => {
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

  test('of an address is one for all ports that a proxy names with it, and for a /64 of IPv6', async () => {
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

  test('of a user is not consumed by failed tokens that claim to be that user', async ({ limited, user }) => {
    const [header, payload] = user.access_token.split('.');
    for (let count = 0; count < 4; count++) await limited.get('/home').auth(`${header}.${payload}.x`, bearer);
    await limited
      .get('/home')
      .auth(user.access_token, bearer)
      .expect(200)
      .expect('X-RateLimit-Remaining', '2');
  });
});

describe('the limit of failed sign-ins', () => {
  test('is 10 a minute for one account from one address; other accounts and successful sign-ins do not count', async ({
    api,
  }) => {
    const [victim, other] = [await signUp(api), await signUp(api)];
    const signIn = (email: string, secret: string) =>
      api.post('/auth/signin').send({ email, password: secret });
    for (let count = 0; count < 12; count++) await signIn(other.user.email, password).expect(200);
    for (let count = 0; count < 10; count++) {
      await signIn(victim.user.email, `wrong ${count}`).expect(401);
    }
    const refused = await signIn(` ${victim.user.email.toUpperCase()}`, password).expect(429);
    expect(Number(refused.get('Retry-After'))).toBeGreaterThan(0);
    expect(refused.get('X-RateLimit-Limit')).toBe('1000000'); // always that of the general limit
    await signIn(other.user.email, password).expect(200);
  });
});

describe('the limit of sign-ups', () => {
  test('is SIGN_UP_LIMIT_PER_HOUR for one address', async () => {
    const gateway = await startGateway({ SIGN_UP_LIMIT_PER_HOUR: '2' });
    const attempt = () => apiAt(gateway.url).post('/auth/signup').send({ email: newEmail(), password });
    await attempt().expect(200);
    await attempt().expect(200);
    const refused = await attempt().expect(429);
    expect(Number(refused.get('Retry-After'))).toBeGreaterThan(3000);
    await gateway.close();
  });
});
