import { expect } from 'vitest';
import { newEmail, password, test } from './support/test.ts';

test('each finished request is one line that names operation and status, and holds no secret', async ({
  api,
  gateway,
}) => {
  const email = newEmail();
  const { body } = await api.post<{ data: { access_token: string; refresh_token: string } }>('/auth/signup', {
    body: { email, password },
    headers: { 'X-Request-Id': 'log-1' },
  });
  const { access_token, refresh_token } = body.data;
  await api.get('/sounds?search=private', { token: access_token, headers: { 'X-Request-Id': 'log-2' } });
  await api.post('/auth/refresh', { body: { refresh_token }, headers: { 'X-Request-Id': 'log-3' } });
  await api.post('/auth/signin', {
    body: { email, password: 'wrong' },
    headers: { 'X-Request-Id': 'log-4' },
  });
  await api.get('/nope', { headers: { 'X-Request-Id': 'log-5' } });

  const lines = () =>
    gateway.logged.map((line) => JSON.parse(line)).filter(({ reqId }) => /^log-\d$/.test(reqId));
  await expect.poll(lines).toHaveLength(5);
  expect(lines().map(({ reqId, operation, res }) => [reqId, operation, res.statusCode])).toEqual([
    ['log-1', 'signUp', 200],
    ['log-2', 'listSounds', 200],
    ['log-3', 'refresh', 200],
    ['log-4', 'signIn', 401],
    ['log-5', 'none', 404],
  ]);
  for (const secret of [email, password, access_token, refresh_token, 'private']) {
    expect(gateway.logged.join('')).not.toContain(secret);
  }
});
