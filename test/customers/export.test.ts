import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { sharedSecret, token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { removeCustomer } from '../support/customer.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { watchLag } from '../support/lag.ts';
import { environment, residentMb, startListening } from '../support/server-process.ts';
import { signUp, test } from '../support/test.ts';

test('GET /me/export is one file with everything that is kept of the caller, and nothing of others', async ({
  api,
  sql,
}) => {
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

test('an account without a customer record and without anything else can be exported', async ({
  api,
  sql,
}) => {
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

describe('exports that are larger than what a gateway should hold', () => {
  const pieces = 200; // 10 MB in all
  const piece = JSON.stringify('x'.repeat(50_000));
  const sendLarge: RequestListener = async (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    const all = Array.from({ length: pieces }, (_, index) => `${index === 0 ? '[' : ','}${piece}`);
    await pipeline(Readable.from([...all, ']']), res).catch(() => {});
  };

  test('pass through at the pace of their clients: twelve at once take little memory, and hold nobody up', async ({
    onTestFinished,
  }) => {
    const upstream = createServer(sendLarge).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const { child, exited, origin } = await startListening({
      ...environment(),
      SUPABASE_URL: `http://127.0.0.1:${port}`,
      SUPABASE_JWT_SECRET: sharedSecret,
    });
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await exited;
      upstream.close();
    });
    const lag = watchLag();
    const probe = async () => {
      const started = performance.now();
      expect((await fetch(`${origin}/healthz`)).status).toBe(200);
      return performance.now() - started;
    };
    await probe();
    const before = residentMb(child.pid);
    const running = { on: true, peakMb: 0, slowestMs: 0 };
    const watching = (async () => {
      while (running.on) {
        running.slowestMs = Math.max(running.slowestMs, await probe());
        running.peakMb = Math.max(running.peakMb, residentMb(child.pid));
        await setTimeout(20);
      }
    })();
    const exports = Array.from({ length: 12 }, async () => {
      const { statusCode, body } = await request(`${origin}/api/v1/me/export`, {
        headers: { Authorization: `Bearer ${await token(randomUUID())}` },
      });
      let length = 0;
      for await (const chunk of body) length += chunk.length;
      return [statusCode, length];
    });
    const sent = '{"data":[]}'.length + pieces * (piece.length + 1) - 1;
    expect(await Promise.all(exports)).toEqual(Array(12).fill([200, sent]));
    running.on = false;
    await watching;
    expect(running.peakMb - before).toBeLessThan(150);
    expect(running.slowestMs).toBeLessThan(200 + 1000 * lag());
  });

  test('that break off in the middle are no whole answer to anybody', async () => {
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

  test('end at Supabase, too, when their client goes away', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const sendForever: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
      res.on('close', resolve);
    };
    await withSupabase(sendForever, async (_api, { url, logged }) => {
      const lag = watchLag();
      const leaving = new AbortController();
      const headers = { Authorization: `Bearer ${await token()}` };
      await fetch(`${url}/me/export`, { headers, signal: leaving.signal });
      leaving.abort();
      const left = performance.now();
      await ended;
      expect((performance.now() - left) / 1000).toBeLessThan(10 + lag()); // the deadline would be a minute
      await expect.poll(() => logged.join('')).toContain('exportAccount aborted');
      expect(logged.join('')).not.toContain('"err"');
    });
  });

  test('end for clients that stop taking anything, so that others need not wait for them', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    function* withoutEnd() {
      for (;;) yield piece;
    }
    const send: RequestListener = (_req, res) => {
      res.on('close', resolve).writeHead(200, { 'Content-Type': 'application/json' });
      void pipeline(Readable.from(withoutEnd()), res).catch(() => {});
    };
    await withSupabase(send, async (_api, { url }) => {
      const lag = watchLag();
      const { body } = await request(`${url}/me/export`, {
        headers: { Authorization: `Bearer ${await token()}` },
      });
      const began = performance.now();
      await ended;
      expect((performance.now() - began) / 1000).toBeLessThan(25 + lag()); // the deadline would be a minute
      await expect(body.text()).rejects.toThrow();
    });
  });
});
