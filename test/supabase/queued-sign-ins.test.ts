import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { holdingAuth, signIn, tally, times, untilShared } from '../limits/bursts.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { startRedis } from '../support/redis.ts';
import { newEmail, password } from '../support/test.ts';

test('a sign-in whose client left while the limits waited for Redis takes no place in the queue', {
  tags: ['redis'],
}, async () => {
  const redis = await startRedis();
  const late: (() => void)[] = [];
  let isSlow = false;
  const slowRedis = createServer((socket) => {
    const server = connect(redis.port, '127.0.0.1').on('error', () => {});
    server.pipe(socket.on('error', () => {})).on('data', (command) => {
      const pass = () => server.write(command);
      if (late.length > 0 || (isSlow && command.includes('failedSignIns'))) late.push(pass);
      else pass();
    });
  });
  await once(slowRedis.listen(0, '127.0.0.1'), 'listening');
  const { port } = slowRedis.address() as AddressInfo;
  const { held, behave, release } = holdingAuth();
  const REDIS_URL = `redis://127.0.0.1:${port}`;
  await withSupabase(
    behave,
    async (api, gateway) => {
      await untilShared(gateway);
      const runs = signIn(api, newEmail(), { from: '10.0.0.1' });
      await expect.poll(() => held.length).toBe(1);
      isSlow = true;
      const leaving = new AbortController();
      const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.1' };
      const body = JSON.stringify({ email: newEmail(), password });
      const init = { method: 'POST', headers, body, signal: leaving.signal };
      const gone = times(2, () => fetch(`${gateway.url}/auth/signin`, init).catch(() => null));
      await expect.poll(() => late.length).toBeGreaterThan(0);
      leaving.abort();
      await gone;
      await expect.poll(() => gateway.logged.join('').match(/signIn aborted/g)).toHaveLength(2);
      isSlow = false;
      for (const pass of late.splice(0)) pass();
      const answers = Array.from({ length: 3 }, () => signIn(api, newEmail()));
      await Promise.race(answers); // the share of one client is two calls
      release();
      const statuses = (await Promise.all([runs, ...answers])).map(({ status }) => status);
      expect(tally(statuses)).toEqual({ 200: 3, 429: 1 });
    },
    { PASSWORD_CALLS_AT_ONCE: '1', REDIS_URL, LOG_LEVEL: 'info', TRUST_PROXY: '1' },
  );
  await redis.stop();
  slowRedis.close();
});

test('a sign-in succeeds after Retry-After, even if another client at its address sent 60', async () => {
  const { held, behave, release } = holdingAuth();
  await withSupabase(
    behave,
    async (api, { arrived }) => {
      const neighbour = times(60, () => signIn(api, newEmail()));
      await expect.poll(arrived).toBe(60);
      const person = newEmail();
      const rejected = signIn(api, person);
      await expect.poll(arrived).toBe(61);
      expect(held).toHaveLength(8);
      release(); // before the response, because calls wait in the queue for four seconds at most
      expect(await rejected).toEqual({ status: 429, reason: 'limit_requests', retryAfter: 3 });
      expect(await signIn(api, person)).toMatchObject({ status: 200 });
      expect(tally((await neighbour).map(({ status }) => status))).toEqual({ 200: 16, 429: 44 });
    },
    { TRUST_PROXY: '1' },
  );
});

test('sign-ins that waited keep their request id at Auth, and do not delay a refresh', async () => {
  const { held, behave, release } = holdingAuth();
  const seen: unknown[] = [];
  await withSupabase(
    (req, res) => {
      if (req.url?.includes('refresh_token')) return sendSession(res);
      seen.push(req.headers['x-request-id']);
      return behave(req, res);
    },
    async (api) => {
      const ids = ['sign-in-0', 'sign-in-1', 'sign-in-2', 'sign-in-3'];
      const waiting = times(4, (n) =>
        api
          .post('/auth/signin')
          .set({ 'X-Request-Id': ids[n], 'X-Forwarded-For': `10.${n}.0.1` })
          .send({ email: newEmail(), password })
          .expect(200),
      );
      await expect.poll(() => held.length).toBe(1);
      await api.post('/auth/refresh').send({ refresh_token: 'a-refresh-token' }).expect(200);
      release();
      await waiting;
      expect(seen.toSorted()).toEqual(ids);
    },
    { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1' },
  );
});
