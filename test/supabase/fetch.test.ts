import type { RequestListener, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { generateKeyPair, SignJWT } from 'jose';
import { describe, expect, vi } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

const secret = 'text that must never reach a client';

const jsonType = { 'Content-Type': 'application/json' };
const htmlType = { 'Content-Type': 'text/html' };

const id = '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10';

/** Valid requests, which fail only because Supabase does. They are sent when they are awaited. */
async function validRequests(api: Api) {
  const accessToken = await token();
  const account = { email: 'a@example.com', password };
  return {
    auth: [
      api.post('/auth/signup').send(account),
      api.post('/auth/signin').send(account),
      api.post('/auth/refresh').send({ refresh_token: 'abcdefghijkl' }),
      api.post('/auth/signout').auth(accessToken, bearer),
    ],
    data: [
      api.get('/categories'),
      api.get('/sounds').auth(accessToken, bearer),
      api.get('/home').auth(accessToken, bearer),
      api.get(`/sounds/${id}`).auth(accessToken, bearer),
      api.post(`/sounds/${id}/play`).auth(accessToken, bearer),
    ],
  };
}

/** Waits without a timer; expect.poll would put a fake clock forward. */
async function until(isTrue: () => boolean) {
  while (!isTrue()) await nextTurn();
}

/** Runs `check` with a clock for deadlines that only `pass` puts forward, which then lets happen what it has caused. */
async function withClock(check: (pass: (ms: number) => Promise<void>) => Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    await check(async (ms) => {
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < 100; turn++) await nextTurn();
    });
  } finally {
    vi.useRealTimers();
  }
}

describe('a failing Supabase', () => {
  const details = JSON.stringify({
    code: 'unexpected_failure',
    message: secret,
    details: secret,
    hint: secret,
  });
  const page = `<h1>${secret}</h1>`;
  const failures: [what: string, status: number, headers: Record<string, string>, body: string][] = [
    ['500 with details', 500, jsonType, details],
    ['409 to the slower of two', 409, jsonType, `{"code":"conflict","message":"${secret}"}`],
    ['503 and asks to wait', 503, { ...jsonType, 'Retry-After': '32' }, `{"message":"${secret}"}`],
    ['502 with a web page', 502, htmlType, page],
    ['200 with a web page', 200, htmlType, page],
    ['400 with a web page', 400, htmlType, page],
    ['401 to our key', 401, jsonType, `{"message":"${secret}"}`],
    ['404 for a missing function', 404, jsonType, `{"code":"PGRST202","message":"${secret}"}`],
    ['404 with an empty body', 404, {}, ''],
    ['200 with an empty body', 200, {}, ''],
    ['200 with the first half of an answer', 200, jsonType, '{"data": [{"id": "'],
    ['less than it announced', 200, { ...jsonType, 'Content-Length': '100' }, '{"data":'],
  ];
  const behaviours = [
    ['nothing and hangs up', (req) => req.socket.destroy()],
    ...failures.map(([what, status, headers, body]): [string, RequestListener] => [
      what,
      (_req, res) => {
        res.writeHead(status, headers);
        if (headers['Content-Length'] === undefined) return res.end(body);
        res.write(body);
        return setImmediate(() => res.destroy());
      },
    ]),
  ] satisfies [string, RequestListener][];

  test('a failure of Supabase is 500 without its message, never 401, which signs users out', async () => {
    let behave: RequestListener = () => {};
    await withSupabase(
      (req, res) => behave(req, res),
      async (api) => {
        for (const [what, listener] of behaviours) {
          behave = listener;
          const { auth, data } = await validRequests(api);
          for (const answer of await Promise.all([...auth, ...data])) {
            expect(answer.status, what).toBe(500);
            expect(JSON.stringify(answer.body)).not.toContain(secret);
          }
        }
      },
    );
  });

  test('a null list of Supabase is 500, not an empty catalogue', async () => {
    const answerNull: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('null');
    };
    await withSupabase(answerNull, async (api) => {
      const accessToken = await token();
      for (const path of ['/categories', '/sounds', '/home', '/favorites'])
        await api.get(path).auth(accessToken, bearer).expect(500);
    });
  });

  test('a 204 of Supabase instead of a value is 500, not 404', async () => {
    await withSupabase(
      (_req, res) => res.writeHead(204).end(),
      async (api) => {
        const { auth, data } = await validRequests(api);
        for (const { status } of await Promise.all(data)) expect(status).toBe(500);
        await Promise.all(auth);
      },
    );
  });

  test('a malformed key set is 500, not 401, because it says nothing about the token', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const signed = await new SignJWT({ sub: id, role: 'authenticated', aud: 'authenticated' })
      .setProtectedHeader({ alg: 'ES256', kid: 'a' })
      .setExpirationTime('1h')
      .sign(privateKey);
    for (const content of ['', '<h1>Welcome</h1>', '{"keys":', '{}', '{"keys":[1]}']) {
      await withSupabase(
        (_req, res) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(content),
        async (api) => {
          await api.get('/me').auth(signed, bearer).expect(500);
        },
      );
    }
  });

  const silences: Record<string, RequestListener> = {
    'never answers': () => {},
    'stalls in the middle of an answer': (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
      res.write('{"data":');
    },
  };
  test.for(Object.entries(silences))(
    'a Supabase that %s fails data after 5 seconds and accounts after 11',
    async ([, behave]) => {
      let arrived = 0;
      const counting: RequestListener = (req, res) => {
        arrived++;
        behave(req, res);
      };
      await withSupabase(counting, (api) =>
        withClock(async (pass) => {
          const statuses = { auth: [] as number[], data: [] as number[] };
          const { auth, data } = await validRequests(api);
          for (const request of auth) void request.then(({ status }) => statuses.auth.push(status));
          for (const request of data) void request.then(({ status }) => statuses.data.push(status));
          await until(() => arrived >= auth.length + data.length);
          await pass(4_999);
          expect(statuses).toEqual({ auth: [], data: [] });
          await pass(1);
          await until(() => statuses.data.length === data.length);
          await pass(5_999);
          expect(statuses).toEqual({ auth: [], data: data.map(() => 500) });
          await pass(1);
          await until(() => statuses.auth.length === auth.length);
          expect(statuses.auth).toEqual(auth.map(() => 500));
        }),
      );
    },
  );

  test('a slow check of a code leaves the usual 5 seconds to store the name', async () => {
    const held = new Map<string | undefined, ServerResponse>();
    await withSupabase(
      (req, res) => void held.set(req.url, res),
      (api) =>
        withClock(async (pass) => {
          const account = { type: 'signup', email: 'ada@example.com', code: '12345678', password };
          const answer = Promise.all([api.post('/auth/verify').send({ ...account, full_name: 'Ada' })]);
          await until(() => held.has('/auth/v1/verify'));
          await pass(5_200);
          sendSession(held.get('/auth/v1/verify') as ServerResponse);
          await until(() => held.has('/auth/v1/user') && held.has('/rest/v1/rpc/update_customer'));
          await pass(4_900);
          for (const res of [...held.values()].slice(1))
            res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
          expect((await answer)[0].status).toBe(200);
        }),
    );
  });

  test('a limit of Auth, or of a proxy in front of it, is 429 with Retry-After', async () => {
    for (const content of [
      JSON.stringify({ code: 'over_request_rate_limit', message: secret }),
      '<h1>Slow</h1>',
    ]) {
      await withSupabase(
        (_req, res) => res.writeHead(429, { 'Content-Type': 'application/json' }).end(content),
        async (api) => {
          const { auth, data } = await validRequests(api);
          for (const { status, headers } of await Promise.all(auth)) {
            expect(status).toBe(429);
            expect(headers['retry-after']).toMatch(/^\d+$/);
          }
          await Promise.all(data);
        },
      );
    }
  });

  test.for(['PGRST301', 'PGRST303'])(
    "a token that the data API rejects (%s) is 401 for the user’s, 500 for the gateway's",
    async (code) => {
      const behave: RequestListener = (_req, res) =>
        res
          .writeHead(401, { 'Content-Type': 'application/json' })
          .end(JSON.stringify({ code, message: secret }));
      await withSupabase(behave, async (api) => {
        const accessToken = await token();
        await api.get('/favorites').auth(accessToken, bearer).expect(401);
        await api.get('/sounds').auth(accessToken, bearer).expect(500);
      });
    },
  );

  test('a favorite of a sound that was just deleted is 404', async () => {
    await withSupabase(
      (_req, res) =>
        res.writeHead(409, { 'Content-Type': 'application/json' }).end('{"code":"23503","message":"gone"}'),
      async (api) => {
        const favorite = api.post('/favorites').auth(await token(), bearer);
        const { body } = await favorite.send({ sound_id: id }).expect(404);
        expect(body.error.code).toBe('not_found');
      },
    );
  });
});
