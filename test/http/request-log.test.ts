import { expect } from 'vitest';
import { holdingAuth, reject, times } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import { apiAt, bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

/** Waits until these requests have ended, and returns their lines. */
async function linesOf(logged: string[], requestIds: string[]) {
  const lines = () => logged.map((line) => JSON.parse(line)).filter(({ requestId }) => requestIds.includes(requestId));
  await expect.poll(() => lines().length).toBe(requestIds.length);
  return lines();
}

test('the log has one line per request: id, operation, status, duration, caller, remaining limit', async ({
  app,
  gateway,
  user,
}) => {
  await app.get('/sounds?search=private').set('X-Request-Id', 'log-1');
  const [list] = await linesOf(gateway.logged, ['log-1']);
  expect(list).toMatchObject({
    level: 30,
    operation: 'listSounds',
    method: 'GET',
    status: 200,
    durationMs: expect.any(Number),
    caller: { via: 'jwt', id: user.user.id },
    rateLimit: { limit: 1_000_000, remaining: expect.any(Number) },
    msg: 'listSounds 200',
  });
  expect(gateway.logged.join('')).not.toContain('private');
});

test('the log shows only the first segment of an unknown address, without credentials', async ({ gateway, user }) => {
  const paths: Record<string, string> = {
    [`/api/v1/nope/${user.access_token}/x?q=private`]: '/api/v1/nope/…',
    '/api/v1/auth/verify/123456': '/api/v1/auth/…',
    '/api/v1/sounds': '/api/v1/sounds',
    '/api/v1/1234567': '/api/v1/…',
    [`/api/v1/${user.user.email}`]: '/api/v1/…',
    '/api/v1/correcthorsebatterystaplecorrecthorsebatterystaple': '/api/v1/…',
    '/api/v1': '/api/v1',
    '/reset/correcthorse?x=correcthorse': '/reset/…',
    '//reset': '/…',
  };
  const ids = Object.keys(paths).map((_path, index) => `path-${index}`);
  for (const [index, path] of Object.keys(paths).entries())
    await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
      method: 'PUT',
      headers: { 'X-Request-Id': `path-${index}` },
    });
  const lines = await linesOf(gateway.logged, ids);
  expect(lines.map(({ path }) => path)).toEqual(Object.values(paths));
  expect(lines[0]).toMatchObject({ operation: 'none', status: 404, msg: 'PUT /api/v1/nope/… 404' });
});

test('the log has the address or IPv6 network of clients with rejected requests, but no probes', async () => {
  const gateway = await startGateway({ TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '3' });
  const api = apiAt(gateway.url);
  const { access_token } = await signUp(api);
  await expect.poll(() => gateway.logged.length).toBe(1);
  for (const path of ['/healthz', '/readyz', '/readyz?x=1'])
    expect((await fetch(`http://127.0.0.1:${gateway.port}${path}`)).status).toBe(200);
  const [v4, v6] = ['203.0.113.7', '2001:db8:1:2:3:4:5:6'];
  const from = (id: string, address = v4) => ({ 'X-Request-Id': id, 'X-Forwarded-For': address });
  await api.post('/auth/signin').set(from('signIn', v6)).send({ email: newEmail(), password }).expect(401);
  await api.post('/auth/verify').set(from('verify')).send({}).expect(400);
  await api.get('/home').set(from('token')).auth('rubbish', bearer).expect(401);
  const requests = [
    ['/home', 200],
    ['/nope', 404],
    ['/sounds?limit=0', 400],
    ['/home', 429],
  ] as const;
  for (const [path, status] of requests)
    await api
      .get(path)
      .set(from(`user-${status}`))
      .auth(access_token, bearer)
      .expect(status);
  const ids = ['signIn', 'verify', 'token', ...requests.map(([, status]) => `user-${status}`)];
  const lines = await linesOf(gateway.logged, ids);
  const none = undefined;
  expect(lines.map(({ reason }) => reason)).toEqual([
    ...['invalid_credentials', 'validation', 'token_invalid', none, 'no_such_path', 'validation', 'limit_requests'],
  ]);
  expect(lines[0].help).toBe('docs/api.md#invalid_credentials');
  expect(lines.map(({ ip }) => ip)).toEqual(['2001:db8:1:2::/64', v4, v4, none, none, none, v4]);
  expect(gateway.logged).toHaveLength(1 + ids.length);
  await gateway.close();
});

test('the log line of a 429 names its limit, including those of Auth and the password queue', async () => {
  const env = { LOG_LEVEL: 'info', PASSWORD_CALLS_AT_ONCE: '1', RATE_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '1' };
  const { held, behave, release } = holdingAuth();
  await withSupabase(
    behave,
    async (api, { logged }) => {
      const limitOf = async (id: string, { status }: { status: number }) => {
        expect(status).toBe(429);
        return (await linesOf(logged, [id]))[0].limit;
      };
      const send = (id: string, email = newEmail()) =>
        api.post('/auth/signin').set({ 'X-Request-Id': id, 'X-Forwarded-For': '192.0.2.1' }).send({ email, password });
      const calls = times(2, async (n) => await send(`held-${n}`));
      await expect.poll(() => held.length).toBe(1);
      expect(await limitOf('queue', await send('queue'))).toBe('passwordQueue');
      release((res) => reject(res, 429, 'over_request_rate_limit'));
      await calls;
      expect(await limitOf('auth', await send('auth'))).toBe('auth');
      release(reject);
      const email = newEmail();
      for (let n = 0; n < 10; n++) await send(`wrong-${n}`, email).expect(401);
      expect(await limitOf('minute', await send('minute', email))).toBe('failedSignIns');
      const asUser = await token();
      await api.get('/nope').auth(asUser, bearer).expect(404);
      const request = api.get('/nope').auth(asUser, bearer).set('X-Request-Id', 'request');
      expect(await limitOf('request', await request)).toBe('requests');
    },
    env,
  );
});

test('the log has the cause of a failed call to Supabase, which was sent the request id', async () => {
  const seen: unknown[] = [];
  await withSupabase(
    (req, res) => {
      seen.push(req.headers['x-request-id']);
      res.destroy();
    },
    async (api, gateway) => {
      const asUser = await token();
      await api.post('/auth/signin').set('X-Request-Id', 'log-1').send({ email: newEmail(), password });
      await api.get('/sounds').auth(asUser, bearer).set('X-Request-Id', 'log-2').expect(500);
      const [, line] = await linesOf(gateway.logged, ['log-1', 'log-2']);
      expect(line).toMatchObject({ level: 50, operation: 'listSounds', status: 500 });
      expect(line.err.message).toContain('No response from /rest/v1/rpc/list_sounds');
      expect(line.err.stack).toContain('SocketError: other side closed');
    },
  );
  expect(seen).toEqual(['log-1', 'log-2']);
});
