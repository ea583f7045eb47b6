import { expect, onTestFinished, vi } from 'vitest';
import { bearer } from '../support/api.ts';
import { forge, type Skip } from '../support/forge.ts';
import { test } from '../support/test.ts';

const invalidToken = 'Bearer realm="sounds", error="invalid_token"';

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** Signs claims like those of Supabase Auth. Changes replace claims; undefined removes a claim. */
const signed = (skip: Skip, changes: Record<string, unknown> = {}) =>
  forge(skip, {
    sub: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10',
    aud: 'authenticated',
    role: 'authenticated',
    exp: inSeconds(3600),
    ...changes,
  });

test('an access token is accepted only with Bearer, in any case and with any number of spaces', async ({
  api,
  user: { access_token: token },
}) => {
  const send = (authorization: string) => api.get('/sounds').set('Authorization', authorization);
  for (const accepted of [`bearer ${token}`, `BEARER   ${token} `]) await send(accepted).expect(200);
  for (const other of ['Basic YTpi', token, 'Bearer', 'Bearer ', `Bearer ${token}, Bearer ${token}`])
    await send(other).expect(401).expect('WWW-Authenticate', invalidToken);
});

test('claims of an access token that the service does not need may have any form', async ({ api, skip }) => {
  const token = await signed(skip, { email: 5, session_id: 5, amr: 5 });
  await api.get('/sounds').auth(token, bearer).expect(200);
});

test('an access token with wrong or missing claims, or of more than 8 KB, gets 401', async ({ api, skip }) => {
  // test/contract tests more tokens on every endpoint.
  for (const changes of [
    { nbf: inSeconds(60) },
    { exp: undefined },
    { aud: undefined },
    { sub: undefined },
    { sub: 'admin' },
    { is_anonymous: 'true' },
    { client_id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', scope: 'email' },
    { client_id: null },
    { user_metadata: { note: 'x'.repeat(6000) } },
  ])
    await api
      .get('/sounds')
      .auth(await signed(skip, changes), bearer)
      .expect(401)
      .expect('WWW-Authenticate', invalidToken);
});

test('an access token with a critical or malformed header, padding or spare bits gets 401', async ({
  api,
  user,
  skip,
}) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const next = (char: string) => alphabet[alphabet.indexOf(char) + 1] ?? '';
  // At least two of three lengths leave unused bits at the end of the base64url text.
  const tokens = await Promise.all(['', 'x', 'xx'].map((note) => signed(skip, { note })));
  for (const token of [user.access_token, ...tokens]) {
    await api.get('/sounds').auth(token, bearer).expect(200);
    const segments = token.split('.');
    const header = JSON.parse(Buffer.from(segments[0] ?? '', 'base64url').toString());
    const respelt = segments.flatMap((segment, at) => {
      if (segment.length % 4 === 0) return [];
      const other = segment.slice(0, -1) + next(segment.at(-1) ?? '');
      return [segments.with(at, other).join('.')];
    });
    const critical = JSON.stringify({ ...header, crit: ['x'], x: 1 });
    for (const other of [critical, 'rubbish'])
      respelt.push(segments.with(0, Buffer.from(other).toString('base64url')).join('.'));
    for (const spelling of [`${token}=`, `${token}==`, ...respelt])
      await api.get('/sounds').auth(spelling, bearer).expect(401);
  }
});

test('an access token is rejected as soon as it has expired', async ({ api, skip }) => {
  const exp = inSeconds(60);
  const token = await signed(skip, { exp });
  const status = async () => (await api.get('/categories').auth(token, bearer)).status;
  vi.useFakeTimers({ toFake: ['Date'], now: 1000 * (exp - 1) });
  onTestFinished(() => void vi.useRealTimers());
  expect(await status()).toBe(200);
  vi.setSystemTime(1000 * exp);
  expect(await status()).toBe(401);
});
