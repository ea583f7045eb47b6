import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { answersInTime } from '../support/burst.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import type { Gateway } from '../support/gateway.ts';
import { watchLag } from '../support/lag.ts';
import { newEmail, password, test } from '../support/test.ts';

/** An Auth that holds every call that hashes a password until it is told to answer; of the others it makes nothing. */
function slowAuth() {
  const waiting: ServerResponse[] = [];
  const seen = { most: 0, requestIds: [] as string[] };
  const behave: RequestListener = (req, res) => {
    req.resume();
    if (!/\/signup|grant_type=password/.test(req.url ?? '')) return sendSession(res);
    seen.requestIds.push(String(req.headers['x-request-id']));
    seen.most = Math.max(seen.most, waiting.push(res));
    return undefined;
  };
  return { behave, seen, waiting };
}

/** Each from an address of its own. */
const signIn = (api: Api, id: string) =>
  api
    .post('/auth/signin')
    .set({ 'X-Request-Id': id, 'X-Forwarded-For': `10.${id.replace(/\D/g, '') || 255}.0.1` })
    .send({ email: newEmail(), password });

describe('a burst of sign-ins', () => {
  test('reaches Auth with no more calls at once than PASSWORD_CALLS_AT_ONCE, and is served whole', async () => {
    const { behave, seen, waiting } = slowAuth();
    await withSupabase(
      behave,
      async (api) => {
        const ids = Array.from({ length: 24 }, (_, index) => `sign-in-${index}`);
        const answers = await answersInTime(async () => {
          seen.requestIds = [];
          waiting.length = 0;
          let ended = 0;
          const all = ids.map((id) => signIn(api, id).then((answer) => ({ answer, nth: ++ended })));
          await expect.poll(() => waiting.length).toBe(16);

          await api.post('/auth/refresh').send({ refresh_token: 'a-refresh-token' }).expect(200);
          expect(seen.requestIds).toHaveLength(16); // what hashes nothing does not stand in that line

          while (ended < ids.length) {
            for (const res of waiting.splice(0, 1)) sendSession(res);
            await nextTurn();
          }
          return (await Promise.all(all)).map(({ answer }) => answer);
        });
        expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
        expect(seen.most).toBe(16);
        // Each is known at Auth by its own request, however long it stood in line.
        expect(seen.requestIds.toSorted()).toEqual(ids.toSorted());
      },
      { TRUST_PROXY: '1' },
    );
  });

  test('that Auth cannot answer in time is answered 429 at once, with the seconds to wait', async ({
    expect,
  }) => {
    const { behave, seen, waiting } = slowAuth();
    await withSupabase(
      behave,
      async (api) => {
        const first = signIn(api, 'first').then(({ status }) => status);
        await expect.poll(() => waiting.length).toBe(1);
        await sleep(3000); // so long takes a call, as far as the gateway knows from now on
        for (const res of waiting.splice(0)) sendSession(res);
        expect(await first).toBe(200);
        const lag = watchLag();
        const started = performance.now();
        const secondsOf = (id: number) =>
          signIn(api, `late-${id}`).then(({ status, headers }) => ({
            status,
            retryAfter: Number(headers['retry-after']),
            took: (performance.now() - started) / 1000,
          }));
        const burst = Array.from({ length: 40 }, (_, index) => secondsOf(index));
        const answered: Awaited<(typeof burst)[number]>[] = [];
        for (const one of burst) void one.then((answer) => answered.push(answer));
        // Four are in flight, and the third round would begin after more than 8 s.
        await expect.poll(() => answered.length).toBeGreaterThanOrEqual(20);
        const dismissed = [...answered];
        for (const { status, retryAfter, took } of dismissed) {
          expect(status).toBe(429);
          expect(retryAfter).toBeGreaterThan(1);
          expect(took).toBeLessThan(4 + lag());
        }
        while (answered.length < burst.length) {
          for (const res of waiting.splice(0)) sendSession(res);
          await nextTurn();
        }
        const served = answered.filter(({ status }) => status === 200);
        expect(served).toHaveLength(seen.requestIds.length - 1);
        expect(served.length).toBeGreaterThanOrEqual(4);
        expect(seen.most).toBe(4);
      },
      { PASSWORD_CALLS_AT_ONCE: '4', TRUST_PROXY: '1' },
    );
  });

  test('leaves the line with its clients', async () => {
    const { behave, seen, waiting } = slowAuth();
    await withSupabase(
      behave,
      async (api, gateway) => {
        const first = signIn(api, 'first').then(({ status }) => status);
        await expect.poll(() => waiting.length).toBe(1);
        const leaving = new AbortController();
        // More of one account than half of its attempts: these wait for each other.
        const accounts = [newEmail(), newEmail(), newEmail(), ...Array(7).fill(newEmail())];
        const gone = accounts.map((email, index) =>
          fetch(`${gateway.url}/auth/signin`, {
            method: 'POST',
            headers: {
              'Content-Type': 'application/json',
              'X-Request-Id': 'gone',
              'X-Forwarded-For': `10.${Math.min(index, 3)}.0.1`,
            },
            body: JSON.stringify({ email, password }),
            signal: leaving.signal,
          }).catch(() => 'gone'),
        );
        await expect.poll(gateway.arrived).toBe(11);
        const last = signIn(api, 'last-200').then(({ status }) => status);
        await expect.poll(gateway.arrived).toBe(12);
        leaving.abort();
        await Promise.all(gone);
        await expect.poll(() => gateway.logged.filter((line) => line.includes('aborted')).length).toBe(10);
        const next = signIn(api, 'next-201').then(({ status }) => status);
        for (const answered of [first, last, next]) {
          await expect.poll(() => waiting.length).toBe(1);
          for (const res of waiting.splice(0)) sendSession(res);
          expect(await answered).toBe(200);
        }
        expect(seen.requestIds).toEqual(['first', 'last-200', 'next-201']);
      },
      { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1', LOG_LEVEL: 'info' },
    );
  });

  test('keeps the place of a sign-up whose client has gone: another request may have joined it', async () => {
    const { behave, waiting } = slowAuth();
    const use = async (api: Api, gateway: Gateway) => {
      const first = signIn(api, 'first').then(({ status }) => status);
      await expect.poll(() => waiting.length).toBe(1);
      const leaving = new AbortController();
      const account = { email: newEmail(), password };
      const gone = fetch(`${gateway.url}/auth/signup`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(account),
        signal: leaving.signal,
      }).catch(() => 'gone');
      await expect.poll(gateway.arrived).toBe(2);
      const again = api
        .post('/auth/signup')
        .send(account)
        .then(({ status }) => status);
      await expect.poll(gateway.arrived).toBe(3);
      leaving.abort();
      expect(await gone).toBe('gone');
      await expect.poll(() => gateway.logged.some((line) => line.includes('aborted'))).toBe(true);
      for (const answered of [first, again]) {
        await expect.poll(() => waiting.length).toBe(1);
        for (const res of waiting.splice(0)) sendSession(res);
        expect(await answered).toBe(200);
      }
    };
    await withSupabase(behave, use, { PASSWORD_CALLS_AT_ONCE: '1', TRUST_PROXY: '1', LOG_LEVEL: 'info' });
  });
});

describe('equal requests in flight', () => {
  const paths: Record<string, object[]> = {
    '/auth/signup': [
      { email: 'ada@example.com', password },
      { email: 'cleo@example.com', password, full_name: 'Ada' },
      { email: 'bob@example.com', password },
      { email: 'dora@example.com', password: `${password}!` },
    ],
    '/auth/oauth/google': [{ id_token: 'a.b.c' }, { id_token: 'a.b.c', nonce: 'n' }, { id_token: 'a.b.d' }],
    '/auth/refresh': [{ refresh_token: 'one-refresh-token' }, { refresh_token: 'another-refresh-token' }],
  };
  test.for(Object.entries(paths))(
    'to %s share one call, and different ones do not',
    async ([path, bodies]) => {
      const waiting: ServerResponse[] = [];
      const asked: string[] = [];
      await withSupabase(
        async (req, res) => {
          // A sign-up that takes long asks whether addresses must be confirmed.
          if (req.url === '/auth/v1/settings') return void res.writeHead(503).end();
          asked.push(await text(req));
          waiting.push(res);
        },
        async (api) => {
          const answers = Promise.all(bodies.flatMap((body) => [1, 2].map(() => api.post(path).send(body))));
          await expect.poll(() => asked.length).toBe(bodies.length);
          expect(new Set(asked).size).toBe(bodies.length);
          for (const res of waiting.splice(0)) sendSession(res);
          expect((await answers).map(({ status }) => status)).toEqual(Array(2 * bodies.length).fill(200));

          const later = Promise.all([api.post(path).send(bodies[0]).expect(200)]); // nothing is remembered
          await expect.poll(() => waiting.length).toBe(1);
          for (const res of waiting) sendSession(res);
          await later;
        },
      );
    },
  );
});

describe('sign-ins whose client goes away while Auth decides', () => {
  const answers: [string, (res: ServerResponse) => unknown, number][] = [
    ['do not count as failures when Auth accepted them', sendSession, 200],
    [
      'count when Auth rejected them',
      (res) =>
        res
          .writeHead(400, { 'Content-Type': 'application/json' })
          .end('{"code":"invalid_credentials","message":"Invalid login credentials"}'),
      429,
    ],
  ];
  test.for(answers)('%s', async ([, answer, expected]) => {
    const account = { email: newEmail(), password };
    const waiting: ServerResponse[] = [];
    await withSupabase(
      (req, res) => {
        req.resume();
        waiting.push(res);
      },
      async (api, gateway) => {
        for (let count = 0; count < 10; count++) {
          const leaving = new AbortController();
          const gone = fetch(`${gateway.url}/auth/signin`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(account),
            signal: leaving.signal,
          }).catch(() => 'gone');
          await expect.poll(() => waiting.length).toBe(1);
          leaving.abort();
          expect(await gone).toBe('gone');
          for (const res of waiting.splice(0)) {
            answer(res);
            await once(res, 'finish');
          }
        }
        const eleventh = api.post('/auth/signin').send(account);
        const status = eleventh.then((answered) => answered.status);
        if (expected === 200) await expect.poll(() => waiting.length).toBe(1);
        for (const res of waiting) sendSession(res);
        expect(await status).toBe(expected);
      },
    );
  });
});

test('signing in with e-mail switched off at Auth is a 401 that says so', async () => {
  await withSupabase(
    (_req, res) => {
      res.writeHead(422, { 'Content-Type': 'application/json' });
      res.end('{"code":"email_provider_disabled","message":"Email logins are disabled"}');
    },
    async (api) => {
      const { body } = await api
        .post('/auth/signin')
        .send({ email: newEmail(), password })
        .expect(401)
        .expect('X-Error-Reason', 'sign_in_disabled');
      expect(body.error.message).toBe('Signing in with an e-mail address is switched off.');
    },
  );
});
