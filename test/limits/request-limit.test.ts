import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { expect } from 'vitest';
import { apiAt, bearer } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { password, signUp, test } from '../support/test.ts';
import { inOnePacket, tally } from './bursts.ts';

const rateLimitHeaders = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]));

test('the request limit counts a batch once, and applies to all sessions of one user', async ({ api, user }) => {
  const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '3', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' });
  const limited = apiAt(gateway.url);
  const { body } = await api.post('/auth/signin').send({ email: user.user.email, password }).expect(200);
  const sessions = [user.access_token, body.data.access_token];
  const send = (session: number, request = limited.get('/home')) => request.auth(sessions[session], bearer);
  const [header, payload] = user.access_token.split('.');
  for (let count = 0; count < 4; count++) await limited.get('/home').auth(`${header}.${payload}.x`, bearer).expect(401);
  const ids = Array.from({ length: 50 }, () => randomUUID());
  const plays = ids.map((id) => ({ id, sound_id: id, played_at: new Date().toISOString() }));
  const batches = [limited.post('/plays').send({ plays }), limited.post('/sounds/files').send({ ids })];
  const begin = Date.now() / 1000;
  for (const [count, request] of [limited.get('/home'), ...batches].entries()) {
    const [limit, remaining, reset = 0] = rateLimitHeaders(await send(count % 2, request).expect(200));
    expect([limit, remaining]).toEqual([3, 2 - count]);
    // The minute begins with the first request. The header has whole seconds.
    expect(reset).toBeGreaterThanOrEqual(Math.floor(begin + 60));
    expect(reset).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000 + 60));
  }
  for (const session of [0, 1]) {
    const refused = await send(session).expect(429).expect('X-Error-Reason', 'limit_requests');
    expect(rateLimitHeaders(refused).slice(0, 2)).toEqual([3, 0]);
    expect(Number(refused.get('Retry-After'))).toBeGreaterThan(0);
  }
  const other = await signUp(api);
  await limited.get('/home').auth(other.access_token, bearer).expect(200);
  await limited.get('/categories').expect(200);
  await gateway.close();
});

test('the request limit counts missing and rejected tokens, unknown paths and methods by address', async () => {
  const gateway = await startGateway({ TRUST_PROXY: '1', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' });
  const limited = apiAt(gateway.url);
  const requests = [
    () => limited.get('/categories'),
    () => limited.get('/sounds').auth('rubbish', bearer),
    () => limited.get('/nope'),
    () => limited.put('/sounds'),
    () => limited.options('/sounds'),
  ];
  for (const [index, send] of requests.entries()) await send().expect('X-RateLimit-Remaining', `${4 - index}`);
  for (const send of requests) await send().expect(429);
  // A refresh still works, so that reads from the same address cannot sign a user out.
  await limited.post('/auth/refresh').send({ refresh_token: 'abcdefghijkl' }).expect(401);

  const remaining = async (address: string) => {
    const { headers } = await limited.get('/categories').set('X-Forwarded-For', address);
    return Number(headers['x-ratelimit-remaining']);
  };
  for (const [address, left] of [
    ['203.0.113.7', 4],
    ['203.0.113.7:4711', 3],
    ['203.0.113.7:4712', 2],
    ['2001:db8:1:2::1', 4],
    ['2001:db8:1:2:3:4:5:6', 3], // same /64 as above
    ['2001:db8:1:3::1', 4],
  ] as const)
    expect([address, await remaining(address)]).toEqual([address, left]);
  const packet = Array(6).fill('GET /nope HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.8\r\n\r\n');
  expect(tally(await inOnePacket(gateway.port, packet))).toEqual({ 404: 5, 429: 1 });
  await gateway.close();
});
