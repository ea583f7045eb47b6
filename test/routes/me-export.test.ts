import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { signUp, test } from '../support/test.ts';
import { removeCustomer } from './remove-customer.ts';

test('GET /me/export returns one file with all data of the caller alone', async ({ api, sql }) => {
  const [mine, other] = [await signUp(api), await signUp(api)];
  const { access_token: token, user } = mine;
  const [id, key] = [await addSound(sql, { title: 'Played' }), randomUUID()];
  const call = (method: 'get' | 'post' | 'patch', path: string) => api[method](path).auth(token, bearer);
  await call('post', '/favorites').send({ sound_id: id }).expect(201);
  await call('post', `/sounds/${id}/play`).set('Idempotency-Key', key).expect(200);
  await call('patch', '/me/customer').send({ full_name: 'Ada', country: 'DE' }).expect(200);
  const [issued] = await sql`select * from admin.create_api_key('Partner', ${user.email})`;
  await api.post(`/sounds/${id}/play`).auth(other.access_token, bearer).expect(200);
  await sql`select admin.create_api_key('Another', ${other.user.email})`;

  const { headers, body, text } = await call('get', '/me/export').expect(200);
  expect(headers['content-disposition']).toBe('attachment; filename=sounds-service-export.json');
  expect(body.data).toEqual({
    profile: (await call('get', '/me')).body.data,
    customer: (await call('get', '/me/customer')).body.data,
    favorites: (await call('get', '/favorites')).body.data,
    history: (await call('get', '/history')).body.data,
    api_keys: [{ name: 'Partner', key_prefix: issued?.['key_prefix'] }],
    play_receipts: [{ key, sound_id: id, received_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) }],
    listening_days: [new Date().toISOString().slice(0, 10)],
  });
  expect(body.data).toMatchObject({
    profile: { full_name: 'Ada' },
    customer: { country: 'DE' },
    favorites: [{ sound_id: id }],
    history: [{ sound_id: id, plays: 1 }],
  });
  expect(text).not.toContain(issued?.['api_key']);
  expect(text).not.toContain(other.user.id);
});

test('an account without a customer record can be exported', async ({ api, sql }) => {
  const { access_token: token, user } = await signUp(api);
  await removeCustomer(sql, user.id);
  const { body } = await api.get('/me/export').auth(token, bearer).expect(200);
  expect(body.data).toEqual({
    profile: { id: user.id, email: user.email, full_name: null, avatar_url: null },
    customer: null,
    favorites: [],
    history: [],
    api_keys: [],
    play_receipts: [],
    listening_days: [],
  });
});

test('a user has five exports an hour, and a HEAD is one', async ({ api }) => {
  const [mine, other] = [await signUp(api), await signUp(api)];
  const call = (method: 'get' | 'head', { access_token } = mine) =>
    api[method]('/me/export').auth(access_token, bearer);
  for (const method of ['get', 'head', 'get', 'head', 'get'] as const) await call(method).expect(200);
  for (const method of ['get', 'head'] as const)
    await call(method).expect(429).expect('X-Error-Reason', 'limit_exports').expect('Retry-After', /^\d+$/);
  await call('get', other).expect(200);
});

describe('exports', () => {
  test.for([
    ['a page of HTML', '<html></html>'],
    ['nothing', ''],
    ['plain text', 'OK'],
    ['a string', '"none"'],
  ])('an export returns 500 when the data API answers 200 with %s', async ([, body]) => {
    await withSupabase(
      (_req, res) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(body),
      async (api) => {
        const answer = await api.get('/me/export').auth(await token(), bearer);
        expect([answer.status, answer.body.error?.code]).toEqual([500, 'server_error']);
      },
    );
  });

  test('exports of one user run one at a time and do not delay those of others', async () => {
    const running: ServerResponse[] = [];
    const hold: RequestListener = (_req, res) => {
      running.push(res.writeHead(200, { 'Content-Type': 'application/json' }));
      res.write('{');
    };
    await withSupabase(hold, async (_api, { url }) => {
      const [mine, other] = [await token(), await token(randomUUID())];
      const exports = [mine, mine, other].map((each) =>
        fetch(`${url}/me/export`, { headers: { Authorization: `Bearer ${each}` } }),
      );
      await expect.poll(() => running.length).toBe(2);
      running[0]?.end('}');
      await expect.poll(() => running.length).toBe(3);
      for (const res of running.slice(1)) res.end('}');
      expect((await Promise.all(exports)).map(({ status }) => status)).toEqual([200, 200, 200]);
    });
  });

  test('an export that breaks off in the middle is no complete response', async () => {
    const breakOff: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      res.write('{"profile":', () => res.destroy());
    };
    await withSupabase(breakOff, async (_api, { url, logged }) => {
      const answer = fetch(`${url}/me/export`, { headers: { Authorization: `Bearer ${await token()}` } });
      await expect(answer.then((res) => res.text())).rejects.toThrow();
      await expect.poll(() => logged.join('')).toContain('exportAccount aborted');
      expect(logged.join('')).toContain('"message":"other side closed"');
    });
  });

  test('an export ends at Supabase when its client disconnects', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const sendForever: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
      res.on('close', resolve);
    };
    await withSupabase(sendForever, async (_api, { url, logged }) => {
      const leaving = new AbortController();
      const headers = { Authorization: `Bearer ${await token()}` };
      await fetch(`${url}/me/export`, { headers, signal: leaving.signal });
      leaving.abort();
      await ended; // the deadline of an export is a minute, which is longer than a test may take
      await expect.poll(() => logged.join('')).toContain('exportAccount aborted');
      expect(logged.join('')).not.toContain('"err"');
    });
  });
});
