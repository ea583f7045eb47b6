import { describe, expect } from 'vitest';
import { alone } from './support/fixture.ts';
import { startGateway } from './support/gateway.ts';
import { apiOf, test as base, newEmail, password } from './support/test.ts';

/** Every test gets a gateway of its own, with budgets small enough to use up. */
const test = base.extend({
  limited: alone(async (use: (api: ReturnType<typeof apiOf>) => Promise<void>) => {
    const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '3', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' });
    await use(apiOf(gateway));
    await gateway.close();
  }),
});

const trio = (headers: Headers) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

describe('the rate limit', () => {
  test('counts down for each user, names a reset within a minute, then answers 429 with Retry-After', async ({
    limited,
    user,
  }) => {
    const send = () => limited.get('/sounds?limit=1', { token: user.access_token });
    for (const remaining of [2, 1, 0]) {
      const { status, headers } = await send();
      expect(status).toBe(200);
      const [limit, left, reset = 0] = trio(headers);
      expect([limit, left]).toEqual([3, remaining]);
      expect(reset - Date.now() / 1000).toBeGreaterThan(50);
      expect(reset - Date.now() / 1000).toBeLessThanOrEqual(61);
    }
    const { status, headers } = await send();
    expect(status).toBe(429);
    expect(trio(headers).slice(0, 2)).toEqual([3, 0]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('of one user does not touch another, nor guests at the same address', async ({
    limited,
    api,
    user,
  }) => {
    const other = await api.signUp();
    for (let count = 0; count < 4; count++) await limited.get('/home', { token: user.access_token });
    expect((await limited.get('/home', { token: other.access_token })).status).toBe(200);
    expect((await limited.get('/categories')).status).toBe(200);
  });

  test('holds for a user across sessions', async ({ limited, api, user }) => {
    const { body } = await api.post<{ data: { access_token: string } }>('/auth/signin', {
      body: { email: user.user.email, password: 'correct horse battery' },
    });
    await limited.get('/home', { token: user.access_token });
    const { headers } = await limited.get('/home', { token: body.data.access_token });
    expect(trio(headers)[1]).toBe(1);
  });

  test('of an address counts guests, refused tokens, unknown addresses and methods alike', async ({
    limited,
  }) => {
    const requests = [
      () => limited.get('/categories'),
      () => limited.get('/sounds', { token: 'rubbish' }),
      () => limited.get('/nope'),
      () => limited.send('PUT', '/sounds'),
      () => limited.send('OPTIONS', '/sounds'),
    ];
    const remaining = [];
    for (const send of requests) remaining.push(trio((await send()).headers)[1]);
    expect(remaining).toEqual([4, 3, 2, 1, 0]);
    for (const send of requests) expect((await send()).status).toBe(429);
  });

  test('of a user is not consumed by failed tokens that claim to be that user', async ({ limited, user }) => {
    const [header, payload] = user.access_token.split('.');
    for (let count = 0; count < 4; count++) await limited.get('/home', { token: `${header}.${payload}.x` });
    const { status, headers } = await limited.get('/home', { token: user.access_token });
    expect(status).toBe(200);
    expect(trio(headers)[1]).toBe(2);
  });
});

describe('the limit of failed sign-ins', () => {
  test('is 10 a minute for one account from one address; other accounts and good sign-ins are not in it', async ({
    api,
  }) => {
    const [victim, other] = [await api.signUp(), await api.signUp()];
    const signIn = (email: string, secret: string) =>
      api.post('/auth/signin', { body: { email, password: secret } });
    for (let count = 0; count < 12; count++)
      expect((await signIn(other.user.email, password)).status).toBe(200);
    for (let count = 0; count < 10; count++) {
      expect((await signIn(victim.user.email, `wrong ${count}`)).status).toBe(401);
    }
    const refused = await signIn(` ${victim.user.email.toUpperCase()}`, password);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1000000'); // the general limit's, always
    expect((await signIn(other.user.email, password)).status).toBe(200);
  });
});

describe('the limit of sign-ups', () => {
  test('is SIGN_UP_LIMIT_PER_HOUR for one address', async () => {
    const gateway = await startGateway({ SIGN_UP_LIMIT_PER_HOUR: '2' });
    const signUp = () => apiOf(gateway).post('/auth/signup', { body: { email: newEmail(), password } });
    expect([(await signUp()).status, (await signUp()).status]).toEqual([200, 200]);
    const refused = await signUp();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
    await gateway.close();
  });
});
