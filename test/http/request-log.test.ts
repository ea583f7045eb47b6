import { describe, expect } from 'vitest';
import { sharedSecret, token } from '../support/access-token.ts';
import { apiAt, bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

/** The lines of these requests, once all of them have ended. */
async function linesOf(logged: string[], requestIds: string[]) {
  const lines = () =>
    logged.map((line) => JSON.parse(line)).filter(({ requestId }) => requestIds.includes(requestId));
  await expect.poll(() => lines().length).toBe(requestIds.length);
  return lines();
}

describe('the log', () => {
  test('the log has one line per request: id, operation, status, duration, caller, remaining limit', async ({
    api,
    gateway,
    user,
  }) => {
    const token = user.access_token;
    await api.get('/sounds?search=private').auth(token, bearer).set('X-Request-Id', 'log-1');
    await api.post('/auth/signin').set('X-Request-Id', 'log-2').send({ email: newEmail(), password });
    await api.get('/nope/sk_live_x?q=private').set('X-Request-Id', 'log-3');
    const [list, signIn, unknown] = await linesOf(gateway.logged, ['log-1', 'log-2', 'log-3']);
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
    expect(signIn).toMatchObject({ operation: 'signIn', status: 401 });
    expect(unknown).toMatchObject({ operation: 'none', status: 404, path: '/api/v1/nope/…' });
    expect(gateway.logged.join('')).not.toContain('private');
  });

  test('the log shows only the first segment of an unknown address, without credentials', async ({
    api,
    gateway,
    user,
  }) => {
    const paths: Record<string, string> = {
      [`/nope/${user.access_token}/x`]: '/api/v1/nope/…',
      '/reset/correcthorsebatterystaple': '/api/v1/reset/…',
      '/auth/verify/123456': '/api/v1/auth/…',
      '/sounds': '/api/v1/sounds',
      '/1234567': '/api/v1/…',
      [`/${user.user.email}`]: '/api/v1/…',
      '/correcthorsebatterystaplecorrecthorsebatterystaple': '/api/v1/…',
      '': '/api/v1',
    };
    for (const path of Object.keys(paths)) await api.put(path).set('X-Request-Id', `path-${path.length}`);
    const requestIds = Object.keys(paths).map((path) => `path-${path.length}`);
    const lines = await linesOf(gateway.logged, requestIds);
    expect(lines.map(({ path }) => path)).toEqual(Object.values(paths));

    const [root, empty] = ['/reset/correcthorse?x=correcthorse', '//reset'];
    for (const [id, path] of Object.entries({ root, empty }))
      await fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers: { 'X-Request-Id': id } });
    const outside = await linesOf(gateway.logged, ['root', 'empty']);
    expect(outside.map(({ path }) => path)).toEqual(['/reset/…', '/…']);
  });

  test("the log has the client's address, of IPv6 the network, for rejected requests only", async () => {
    const gateway = await startGateway({ TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '3' });
    const api = apiAt(gateway.url);
    const from = (id: string, address: string) => ({ 'X-Request-Id': id, 'X-Forwarded-For': address });
    const { access_token } = await signUp(api);
    const [v4, v6] = ['203.0.113.7', '2001:db8:1:2:3:4:5:6'];
    await api.post('/auth/signin').set(from('ip-401', v6)).send({ email: newEmail(), password }).expect(401);
    await api.post('/auth/verify').set(from('ip-400', v4)).send({}).expect(400);
    await api.get('/home').set(from('ip-token', v4)).auth('rubbish', bearer).expect(401);
    const asUser = (id: string, path: string) => api.get(path).set(from(id, v4)).auth(access_token, bearer);
    await asUser('ip-200', '/home').expect(200);
    await asUser('ip-404', '/nope').expect(404);
    await asUser('ip-bad', '/sounds?limit=0').expect(400);
    await asUser('ip-429', '/home').expect(429);
    const ids = ['ip-401', 'ip-400', 'ip-token', 'ip-200', 'ip-404', 'ip-bad', 'ip-429'];
    const lines = await linesOf(gateway.logged, ids);
    expect(lines.map(({ ip }) => ip)).toEqual([
      '2001:db8:1:2::/64',
      v4,
      v4,
      undefined,
      undefined,
      undefined,
      v4,
    ]);
    await gateway.close();
  });

  test('the log has the cause of a failure', async () => {
    const gateway = await startGateway({
      SUPABASE_URL: 'http://127.0.0.1:9',
      SUPABASE_JWT_SECRET: sharedSecret,
    });
    await apiAt(gateway.url)
      .get('/sounds')
      .auth(await token(), bearer)
      .set('X-Request-Id', 'log-6');
    const [line] = await linesOf(gateway.logged, ['log-6']);
    expect(line).toMatchObject({ level: 50, operation: 'listSounds', status: 500 });
    expect(line.err.message).toContain('No response from /rest/v1/rpc/list_sounds');
    expect(line.err.stack).toContain('ECONNREFUSED');
    await gateway.close();
  });

  test('the log has no probes', async () => {
    const gateway = await startGateway();
    for (const path of ['/healthz', '/readyz', '/readyz?x=1'])
      expect((await fetch(`http://127.0.0.1:${gateway.port}${path}`)).status).toBe(200);
    await apiAt(gateway.url).get('/nope').set('X-Request-Id', 'log-7');
    const [line] = await linesOf(gateway.logged, ['log-7']);
    expect(line.msg).toBe('GET /api/v1/nope 404');
    expect(gateway.logged).toHaveLength(1);
    await gateway.close();
  });
});

test('the id of a request goes with every call to Supabase that it causes', async () => {
  const seen: unknown[] = [];
  await withSupabase(
    (req, res) => {
      seen.push(req.headers['x-request-id']);
      res.writeHead(500).end();
    },
    async (api) => {
      await api.get('/categories').set('X-Request-Id', 'trace-1');
      await api.post('/auth/signin').set('X-Request-Id', 'trace-2').send({ email: newEmail(), password });
      await api
        .get('/home')
        .auth(await token(), bearer)
        .set('X-Request-Id', 'trace-3');
    },
  );
  expect(seen).toEqual(['trace-1', 'trace-2', 'trace-3']);
});
