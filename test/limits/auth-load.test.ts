import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { answersInTime } from '../support/burst.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
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
    .set({ 'X-Request-Id': id, 'X-Forwarded-For': `10.0.0.${id.replace(/\D/g, '') || 255}` })
    .send({ email: newEmail(), password });

describe.concurrent('a burst of sign-ins', () => {
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

  test('that Auth does not answer in time is refused without having reached it', async () => {
    const { behave, seen, waiting } = slowAuth();
    await withSupabase(
      (req, res) => {
        res.once('close', () => waiting.splice(waiting.indexOf(res), 1));
        return behave(req, res);
      },
      async (api) => {
        const first = Promise.all([signIn(api, 'first').expect(200)]);
        await expect.poll(() => waiting.length).toBe(1);
        await sleep(3000); // so long takes a call, as far as the gateway knows from now on
        for (const res of waiting) sendSession(res);
        await first;
        const burst = Array.from({ length: 40 }, (_, index) => signIn(api, `late-${index}`));
        expect((await Promise.all(burst)).map(({ status }) => status)).toEqual(burst.map(() => 500));
        // The first, one round, and perhaps one more of some that came three seconds later.
        expect(seen.requestIds.length).toBeLessThanOrEqual(9);
      },
      { PASSWORD_CALLS_AT_ONCE: '4', TRUST_PROXY: '1' },
    );
  });
});

describe('equal requests in flight', () => {
  const paths: Record<string, object[]> = {
    '/auth/signup': [
      { email: 'ada@example.com', password },
      { email: 'ada@example.com', password, full_name: 'Ada' },
      { email: 'bob@example.com', password },
      { email: 'bob@example.com', password: `${password}!` },
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

describe('sign-ins whose client goes away', () => {
  const account = { email: newEmail(), password };
  const placesForAll = { PASSWORD_CALLS_AT_ONCE: '64' };

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
      placesForAll,
    );
  });

  test('count when Auth refused them', async () => {
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
        leaving.abort();
        await Promise.all(gone);
        for (const res of waiting.splice(0)) {
          res.writeHead(400, { 'Content-Type': 'application/json' });
          res.end('{"code":"invalid_credentials","message":"Invalid login credentials"}');
          await once(res, 'finish');
        }
        await api.post('/auth/signin').send(account).expect(429);
      },
      placesForAll,
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
