import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import type { Api } from './support/api.ts';
import { sendSession, withSupabase } from './support/fake-supabase.ts';
import { newEmail, password, test } from './support/test.ts';

const isPasswordCall = (url = '') => /\/signup|grant_type=password/.test(url);

/**
 * An Auth with two cores, which share themselves among all that is hashed at a time: the more it is, the longer each takes.
 * It gives up after 10 s, as the real one does, and goes on hashing for a client that has gone.
 */
function hashingAuth(hashMs: number) {
  type Hash = { res: ServerResponse; leftMs: number; startedAt: number; requestId: string };
  const hashing = new Set<Hash>();
  const seen = { calls: 0, most: 0, answered: 0, requestIds: [] as string[] };
  let lastTick = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const eachMs = (2 * (now - lastTick)) / Math.max(hashing.size, 2);
    lastTick = now;
    for (const hash of hashing) {
      hash.leftMs -= eachMs;
      if (hash.leftMs > 0 && now - hash.startedAt < 10_000) continue;
      hashing.delete(hash);
      if (hash.leftMs > 0) hash.res.writeHead(504).end();
      else {
        seen.answered++;
        sendSession(hash.res);
      }
    }
  }, 5);
  const behave: RequestListener = (req, res) => {
    req.resume();
    if (!isPasswordCall(req.url)) return sendSession(res);
    const requestId = String(req.headers['x-request-id']);
    hashing.add({ res, leftMs: hashMs, startedAt: performance.now(), requestId });
    seen.requestIds.push(requestId);
    seen.calls++;
    seen.most = Math.max(seen.most, hashing.size);
    return undefined;
  };
  return { behave, seen, stop: () => clearInterval(timer) };
}

const signIn = (api: Api, id: string) =>
  api.post('/auth/signin').set('X-Request-Id', id).send({ email: newEmail(), password });

describe.concurrent('a burst of sign-ins', () => {
  test('is served as fast as Auth can hash, with no more calls at once than PASSWORD_CALLS_AT_ONCE', async () => {
    const auth = hashingAuth(130); // 150 of them are 9.75 s of work, and all at once would end in no answer at all
    await withSupabase(auth.behave, async (api) => {
      const ids = Array.from({ length: 150 }, (_, index) => `sign-in-${index}`);
      const burst = ids.map((id) => signIn(api, id));
      const answers = Promise.all(burst);
      await expect.poll(() => auth.seen.most).toBe(16);

      await api.post('/auth/refresh').send({ refresh_token: 'a-refresh-token' }).expect(200);
      expect(auth.seen.calls).toBeLessThan(150); // what hashes nothing does not stand in that line

      const statuses = (await answers).map(({ status }) => status);
      const served = statuses.filter((status) => status === 200).length;
      expect(served).toBeGreaterThan(100);
      expect(statuses.filter((status) => status === 500)).toHaveLength(150 - served);
      expect(auth.seen.most).toBe(16);
      // Each is known at Auth by its own request, however long it stood in line.
      expect(new Set(auth.seen.requestIds).size).toBe(auth.seen.calls);
      expect(ids).toEqual(expect.arrayContaining(auth.seen.requestIds));
    });
    auth.stop();
  });

  test('that is more than Auth can hash in time is refused without having reached it', async () => {
    const auth = hashingAuth(400); // 5 a second
    await withSupabase(
      auth.behave,
      async (api) => {
        const burst = Array.from({ length: 100 }, (_, index) => signIn(api, `late-${index}`));
        const statuses = (await Promise.all(burst)).map(({ status }) => status);
        const served = statuses.filter((status) => status === 200).length;
        expect(served).toBeGreaterThan(25);
        expect(served).toBeLessThan(100);
        expect(statuses.filter((status) => status === 500)).toHaveLength(100 - served);
        // But for one round, which may have had a little less time than the one before it took.
        expect(auth.seen.calls).toBeLessThanOrEqual(served + 4);
      },
      { PASSWORD_CALLS_AT_ONCE: '4' },
    );
    auth.stop();
  });
});

describe('equal requests in flight', () => {
  const paths: Record<string, object[]> = {
    '/auth/signup': [
      { email: 'ada@example.com', password },
      { email: 'ada@example.com', password, full_name: 'Ada' },
      { email: 'ada@example.com', password: `${password}!` },
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
          asked.push(await text(req));
          waiting.push(res);
        },
        async (api) => {
          const answers = Promise.all(
            bodies.flatMap((body) => [1, 2, 3].map(() => api.post(path).send(body))),
          );
          await expect.poll(() => asked.length).toBe(bodies.length);
          expect(new Set(asked).size).toBe(bodies.length);
          for (const res of waiting.splice(0)) sendSession(res);
          expect((await answers).map(({ status }) => status)).toEqual(Array(3 * bodies.length).fill(200));

          const later = Promise.all([api.post(path).send(bodies[0]).expect(200)]); // nothing is remembered
          await expect.poll(() => waiting.length).toBe(1);
          for (const res of waiting) sendSession(res);
          await later;
        },
      );
    },
  );
});

describe('sign-ins whose client goes away', () => {
  const account = { email: newEmail(), password };

  test('do not count as failures when Auth accepted them', async () => {
    const waiting: ServerResponse[] = [];
    await withSupabase(
      (req, res) => {
        req.resume();
        waiting.push(res);
      },
      async (api, gateway) => {
        for (let count = 1; count <= 10; count++) {
          const leaving = new AbortController();
          const gone = fetch(`${gateway.url}/auth/signin`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(account),
            signal: leaving.signal,
          }).catch(() => 'gone');
          await expect.poll(() => waiting.length).toBe(count);
          leaving.abort();
          expect(await gone).toBe('gone');
        }
        for (const res of waiting.splice(0)) {
          sendSession(res);
          await once(res, 'finish');
        }
        const eleventh = api.post('/auth/signin').send(account);
        const answer = eleventh.then(({ status }) => status);
        await expect.poll(() => waiting.length).toBe(1);
        for (const res of waiting) sendSession(res);
        expect(await answer).toBe(200);
      },
    );
  });

  test('count when Auth refused them, and while they are under way', async () => {
    const waiting: ServerResponse[] = [];
    await withSupabase(
      (req, res) => {
        req.resume();
        waiting.push(res);
      },
      async (api, gateway) => {
        const leaving = new AbortController();
        const gone = Array.from({ length: 10 }, () =>
          fetch(`${gateway.url}/auth/signin`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(account),
            signal: leaving.signal,
          }).catch(() => 'gone'),
        );
        await expect.poll(() => waiting.length).toBe(10);
        await api.post('/auth/signin').send(account).expect(429); // guesses at the same time are guesses, too
        leaving.abort();
        await Promise.all(gone);
        for (const res of waiting.splice(0)) {
          res.writeHead(400, { 'Content-Type': 'application/json' });
          res.end('{"code":"invalid_credentials","message":"Invalid login credentials"}');
          await once(res, 'finish');
        }
        await api.post('/auth/signin').send(account).expect(429);
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
