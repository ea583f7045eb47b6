import { prettyFactory } from 'pino-pretty';
import { describe, expect } from 'vitest';
import { prettyOptions } from '../src/http/logger.ts';
import { sharedSecret, token } from './support/access-token.ts';
import { apiAt, bearer } from './support/api.ts';
import { withSupabase } from './support/fake-supabase.ts';
import { startGateway } from './support/gateway.ts';
import { newEmail, password, test } from './support/test.ts';

/** The lines of these requests, once all of them have ended. */
async function linesOf(logged: string[], requestIds: string[]) {
  const lines = () =>
    logged.map((line) => JSON.parse(line)).filter(({ requestId }) => requestIds.includes(requestId));
  await expect.poll(() => lines().length).toBe(requestIds.length);
  return lines();
}

describe('the log', () => {
  test('has one line for each request: id, operation, status, duration, caller and what is left of the limit', async ({
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
    expect(prettyFactory(prettyOptions)(list)).toContain(`<jwt ${user.user.id}>`); // at a terminal
    expect(signIn).toMatchObject({ operation: 'signIn', status: 401 });
    expect(unknown).toMatchObject({ operation: 'none', status: 404, path: '/api/v1/nope/sk_live_x' });
    expect(gateway.logged.join('')).not.toContain('private');
  });

  test('hides what may be a credential in an unknown address', async ({ api, gateway, user }) => {
    const token = user.access_token;
    await api.get(`/nope/${token}/x`).set('X-Request-Id', 'log-4');
    await api.get(`/nope/${user.user.email}`).set('X-Request-Id', 'log-5');
    await api.get('/auth/verify/123456').set('X-Request-Id', 'log-8');
    const lines = await linesOf(gateway.logged, ['log-4', 'log-5', 'log-8']);
    const paths = ['/api/v1/nope/…/x', '/api/v1/nope/…', '/api/v1/auth/verify/…'];
    expect(lines.map(({ path }) => path)).toEqual(paths);
  });

  test('tells of a failure what the client is not told, down to its cause', async () => {
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
    expect(line.err.message).toContain('No answer from /rest/v1/rpc/list_sounds');
    expect(line.err.stack).toContain('ECONNREFUSED');
    await gateway.close();
  });

  test('is silent about probes', async () => {
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
