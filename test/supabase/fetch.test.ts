import type { RequestListener, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { sendSession, until, withSupabase } from '../support/fake-supabase.ts';
import { password, test } from '../support/test.ts';

const secret = 'text that must never reach a client';
const jsonType = { 'Content-Type': 'application/json' };
const htmlType = { 'Content-Type': 'text/html' };

const id = '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10';

/** Returns valid requests, which fail only if Supabase fails. They are sent when they are awaited. */
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
      api.get('/favorites').auth(accessToken, bearer),
      api.get('/progress').auth(accessToken, bearer),
      api.get('/catalogue/changes').auth(accessToken, bearer),
      api.get(`/sounds/${id}`).auth(accessToken, bearer),
      api.post(`/sounds/${id}/play`).auth(accessToken, bearer),
    ],
  };
}

/** Runs `check` with a clock for deadlines. Only `pass` advances it, and then waits for the effects. */
async function withClock(check: (pass: (ms: number) => Promise<void>) => Promise<void>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    for (let turn = 0; turn < 100; turn++) await nextTurn();
  };
  await check(pass).finally(() => vi.useRealTimers());
}

const respond =
  (status: number, headers: Record<string, string>, body: string): RequestListener =>
  (_req, res) =>
    res.writeHead(status, headers).end(body);

const cutOff: RequestListener = (_req, res) => {
  res.writeHead(200, { ...jsonType, 'Content-Length': '100' }).write('{"data":');
  setImmediate(() => res.destroy());
};

const error = (code: string) => JSON.stringify({ code, message: secret, details: secret, hint: secret });
const page = `<h1>${secret}</h1>`;

test('a failure of Supabase results in 500 without its message, never in 401', async () => {
  const failures: Record<string, RequestListener> = {
    'nothing and hangs up': (req) => req.socket.destroy(),
    '500 with details': respond(500, jsonType, error('unexpected_failure')),
    '409 to the slower of two': respond(409, jsonType, error('conflict')),
    '503 and asks to wait': respond(503, { ...jsonType, 'Retry-After': '32' }, `{"message":"${secret}"}`),
    '502 with a web page': respond(502, htmlType, page),
    '200 with a web page': respond(200, htmlType, page),
    '400 with a web page': respond(400, htmlType, page),
    '401 to our key': respond(401, jsonType, `{"message":"${secret}"}`),
    '404 for a missing function': respond(404, jsonType, error('PGRST202')),
    '404 with an empty body': respond(404, {}, ''),
    '200 with an empty body': respond(200, {}, ''),
    '200 with the first half of an answer': respond(200, jsonType, '{"data": [{"id": "'),
    '200 with the first half of a list': respond(200, jsonType, '[{"id": "'),
    'less than it announced': cutOff,
  };
  let behave: RequestListener = () => {};
  await withSupabase(
    (req, res) => behave(req, res),
    async (api) => {
      for (const [what, listener] of Object.entries(failures)) {
        behave = listener;
        const { auth, data } = await validRequests(api);
        for (const answer of await Promise.all([...auth, ...data])) {
          expect(answer.status, what).toBe(500);
          expect(JSON.stringify(answer.body)).not.toContain(secret);
        }
      }
      behave = (_req, res) => res.writeHead(204).end();
      const { auth, data } = await validRequests(api);
      for (const { status } of await Promise.all(data)) expect(status, '204 instead of a value').toBe(500);
      await Promise.all(auth);

      behave = respond(200, jsonType, 'null');
      const accessToken = await token();
      for (const path of ['/categories', '/sounds', '/home', '/favorites'])
        await api.get(path).auth(accessToken, bearer).expect(500);
    },
  );
});

const silences: Record<string, RequestListener> = {
  'never answers': () => {},
  'stalls in the middle of an answer': (_req, res) =>
    res.writeHead(200, { ...jsonType, 'Content-Length': '100' }).write('{"data":'),
};
test.for(Object.entries(silences))(
  'calls to a Supabase that %s fail after 5 s for data and 11 s for accounts',
  async ([, behave]) => {
    let arrived = 0;
    const counting: RequestListener = (req, res) => {
      arrived++;
      behave(req, res);
    };
    const check = (api: Api) =>
      withClock(async (pass) => {
        const { auth, data } = await validRequests(api);
        const ended = { auth: [] as number[], data: [] as number[] };
        for (const request of auth) void request.then(({ status }) => ended.auth.push(status));
        for (const request of data) void request.then(({ status }) => ended.data.push(status));
        await until(() => arrived >= auth.length + data.length);
        await pass(4_999);
        expect(ended).toEqual({ auth: [], data: [] });
        await pass(1);
        await until(() => ended.data.length === data.length);
        await pass(5_999);
        expect(ended).toEqual({ auth: [], data: data.map(() => 500) });
        await pass(1);
        await until(() => ended.auth.length === auth.length);
        expect(ended.auth).toEqual(auth.map(() => 500));
      });
    await withSupabase(counting, check);
  },
);

test('a slow check of a code does not reduce the 5 seconds to store the name', async () => {
  const held = new Map<string | undefined, ServerResponse>();
  const check = (api: Api) =>
    withClock(async (pass) => {
      const account = { type: 'signup', email: 'ada@example.com', code: '12345678', password };
      const answer = Promise.all([api.post('/auth/verify').send({ ...account, full_name: 'Ada' })]);
      await until(() => held.has('/auth/v1/verify'));
      await pass(5_200);
      sendSession(held.get('/auth/v1/verify') as ServerResponse);
      await until(() => held.has('/auth/v1/user') && held.has('/rest/v1/rpc/update_customer'));
      await pass(4_900);
      const saved = JSON.stringify({ id, marketing_opt_in: false });
      for (const res of [...held.values()].slice(1)) res.writeHead(200, jsonType).end(saved);
      expect((await answer)[0].status).toBe(200);
    });
  await withSupabase((req, res) => void held.set(req.url, res), check);
});

test('a response of Supabase that is not the documented one gives 500', async () => {
  let behave: RequestListener = () => {};
  const data = [
    ['get', '/categories'],
    ['get', '/sounds'],
    ['get', `/sounds/${id}`],
    ['get', '/home'],
    ['get', '/favorites'],
    ['get', '/history'],
    ['get', '/progress'],
    ['get', '/me'],
    ['get', '/me/customer'],
    ['get', '/me/export'],
    ['get', '/me/sessions'],
    ['get', '/catalogue/changes'],
    ['patch', '/me/customer', { country: 'DE' }],
    ['post', '/favorites', { sound_id: id }],
    ['delete', `/favorites/${id}`],
    ['delete', '/history'],
    ['post', `/sounds/${id}/play`],
    ['post', '/sounds/files', { ids: [id] }],
  ] as const;
  const email = 'ada@example.com';
  const auth = [
    ['delete', '/me'],
    ['post', '/auth/password', { password }],
    ['post', '/auth/signout'],
    ['post', '/auth/recover', { email }],
    ['post', '/auth/resend', { email, type: 'signup' }],
  ] as const;
  await withSupabase(
    (req, res) => behave(req, res),
    async (api) => {
      const accessToken = await token();
      const send = async ([method, path, body]: (typeof data | typeof auth)[number], reply: RequestListener) => {
        behave = reply;
        const answer = await api[method](path).auth(accessToken, bearer).send(body);
        return `${method} ${path} ${answer.status}`;
      };
      for (const body of ['{"status":"ok"}', '{}', '"ok"', '5', '["', '[null]', '[{"status":"ok"}]'])
        for (const request of data) expect(await send(request, respond(200, jsonType, body)), body).toMatch(/ 500$/);
      for (const body of ['[]', '"ok"'])
        for (const request of auth) expect(await send(request, respond(200, jsonType, body)), body).toMatch(/ 500$/);
      for (const request of auth.filter(([, path]) => path !== '/auth/signout'))
        expect(await send(request, respond(204, {}, ''))).toMatch(/ 500$/);

      const deletion =
        (body: string): RequestListener =>
        ({ method }, res) =>
          res.writeHead(200, jsonType).end(method === 'DELETE' ? body : JSON.stringify({ id }));
      expect(await send(auth[0], deletion('{}'))).toMatch(/ 200$/);
      for (const body of ['[]', '"ok"']) expect(await send(auth[0], deletion(body)), body).toMatch(/ 500$/);
    },
  );
});

test('an error of Supabase about the request is passed on by its code, without its message', async () => {
  let behave: RequestListener = () => {};
  await withSupabase(
    (req, res) => behave(req, res),
    async (api) => {
      const accessToken = await token();
      const signIn = () => api.post('/auth/signin').send({ email: 'a@example.com', password });
      const signUp = () => api.post('/auth/signup').send({ email: 'a@example.com', password });
      const signOut = () => api.post('/auth/signout').auth(accessToken, bearer);
      const get = (path: string) => () => api.get(path).auth(accessToken, bearer);
      const favorite = () => api.post('/favorites').auth(accessToken, bearer).send({ sound_id: id });
      for (const [listener, send, status, reason] of [
        [respond(401, jsonType, error('PGRST301')), get('/favorites'), 401, 'token_invalid'],
        [respond(401, jsonType, error('PGRST303')), get('/favorites'), 401, 'token_invalid'],
        [respond(401, jsonType, error('PGRST303')), get('/me/export'), 401, 'token_invalid'],
        [respond(401, jsonType, error('PGRST301')), get('/sounds'), 500], // rejects the token of the gateway
        [respond(409, jsonType, error('23503')), favorite, 404, 'no_such_resource'], // the sound was just deleted
        [respond(422, jsonType, error('email_provider_disabled')), signIn, 401, 'sign_in_disabled'],
        [respond(200, jsonType, error('no_session')), signIn, 500],
        [respond(403, jsonType, error('bad_jwt')), signOut, 401, 'token_invalid'],
        [respond(422, jsonType, error('weak_password')), signUp, 400, 'weak_password'],
        [respond(422, jsonType, error('signup_disabled')), signUp, 400, 'sign_up_disabled'],
        [respond(400, jsonType, error('email_provider_disabled')), signUp, 400, 'sign_up_disabled'],
        [respond(400, jsonType, error('email_address_not_authorized')), signUp, 400, 'validation'],
      ] as const) {
        behave = listener;
        const answer = await send();
        expect([answer.status, answer.headers['x-error-reason']]).toEqual([status, reason]);
        expect(JSON.stringify(answer.body)).not.toContain(secret);
      }
      for (const body of [error('over_request_rate_limit'), page]) {
        behave = respond(429, jsonType, body); // from Auth, or from a proxy in front of it
        for (const { status, headers } of await Promise.all((await validRequests(api)).auth))
          expect([status, headers['retry-after']]).toEqual([429, '60']);
      }
    },
  );
});
