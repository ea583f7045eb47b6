import { randomUUID } from 'node:crypto';
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { issueKey, newUser, test } from '../support/test.ts';

const json = { 'Content-Type': 'application/json' };
const exportAt = async (url: string, credential = token(), init: RequestInit = {}) =>
  fetch(`${url}/me/export`, { headers: { Authorization: `Bearer ${await credential}` }, ...init });

describe('GET /me/export', () => {
  test('returns a file with all data of only the caller, five times an hour', async ({ gateway, sql }) => {
    const [mine, other] = [await newUser(gateway), await newUser(gateway)];
    const { app } = mine;
    const [id, key] = [await addSound(sql, { title: 'Played' }), randomUUID()];
    await app.post('/favorites').send({ sound_id: id }).expect(201);
    await app.post(`/sounds/${id}/play`).set('Idempotency-Key', key).expect(200);
    await app.patch('/me/customer').send({ full_name: 'Ada', country: 'DE' }).expect(200);
    const removed = await addSound(sql);
    await app.delete(`/history/${removed}`).expect(200);
    const updated_at = new Date(Date.now() - 86_400_000).toISOString();
    await app
      .put('/progress')
      .send({ entries: [{ sound_id: id, position_sec: 5, updated_at }] })
      .expect(200);
    const [kept, gone] = ['Night', 'Gone'].map((name) => ({
      id: randomUUID(),
      name,
      is_mix: true,
      items: [],
      version: 0,
    }));
    await app
      .put('/lists')
      .send({ lists: [kept, { ...gone, items: null }] })
      .expect(200);
    const apiKey = await issueKey(sql, mine);
    await other.app.post(`/sounds/${id}/play`).expect(200);
    await issueKey(sql, other);

    const customerNow = async () => (await app.get('/me/customer')).body.data;
    await expect.poll(async () => (await customerNow()).last_seen_at).not.toBeNull(); // written after a response
    const { headers, body, text } = await app.get('/me/export').expect(200);
    expect(headers['content-disposition']).toBe('attachment; filename=sounds-service-export.json');
    expect(body.data).toEqual({
      profile: (await app.get('/me')).body.data,
      customer: await customerNow(),
      favorites: (await app.get('/favorites')).body.data,
      history: (await app.get('/history')).body.data,
      api_keys: [{ name: 'Partner', key_prefix: apiKey.slice(0, 16) }],
      play_receipts: [{ key, sound_id: id, received_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) }],
      listening_days: [new Date().toISOString().slice(0, 10)],
      progress: [{ sound_id: id, position_sec: 5, updated_at }],
      history_clearings: [{ sound_id: removed, cleared_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) }],
      lists: (await app.get('/lists')).body.data,
      removed_lists: [{ id: gone?.id, removed_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) }],
    });
    const { profile, customer, favorites, history } = body.data;
    expect([profile.full_name, customer.country]).toEqual(['Ada', 'DE']);
    expect([favorites, history]).toMatchObject([[{ sound_id: id }], [{ sound_id: id, plays: 1 }]]);
    expect(body.data.lists).toMatchObject([{ id: kept?.id }]);
    for (const secret of [apiKey, other.user.id]) expect(text).not.toContain(secret);

    for (let turn = 0; turn < 4; turn++) {
      const head = await app.head('/me/export').expect(200); // does not count
      expect(head.headers['content-disposition']).toBe(headers['content-disposition']);
      await app.get('/me/export').expect(200);
    }
    await app.head('/me/export').expect(200);
    const rejected = await app.get('/me/export').expect(429).expect('X-Error-Reason', 'limit_exports');
    expect(rejected.get('Retry-After')).toMatch(/^\d+$/);
    await other.app.get('/me/export').expect(200);
  });

  test('returns 500 if the data API answers 200 with a body that is not JSON', async () => {
    let body = '';
    await withSupabase(
      (_req, res) => res.writeHead(200, json).end(body),
      async (_api, { url }) => {
        const long = '<html>'.repeat(100_000); // sent five times, although four exports run at once
        for (body of ['', '"none"', long, long, long, long, long]) expect((await exportAt(url)).status).toBe(500);
      },
    );
  });

  test('answers HEAD without asking the database', async () => {
    let asked = 0;
    await withSupabase(
      (_req, res) => {
        asked++;
        res.writeHead(500).end();
      },
      async (_api, { url }) => {
        for (let turn = 0; turn < 6; turn++)
          expect((await exportAt(url, token(), { method: 'HEAD' })).status).toBe(200);
        expect(asked).toBe(0);
      },
    );
  });

  test('runs one export of a user at a time, without delaying exports of other users', async () => {
    const running: ServerResponse[] = [];
    const hold: RequestListener = (_req, res) => {
      running.push(res.writeHead(200, json));
      res.write('{'); // a first part can be shorter than what an export begins with
    };
    await withSupabase(hold, async (_api, { arrived, url }) => {
      const [mine, other] = [token(), token(randomUUID())];
      const exports = [mine, mine].map((each) => exportAt(url, each));
      await expect.poll(arrived).toBe(2);
      exports.push(exportAt(url, other));
      const callers = () => running.map(({ req }) => req.headers.authorization);
      await expect.poll(callers).toEqual([`Bearer ${await mine}`, `Bearer ${await other}`]);
      running[0]?.end('"profile":null}');
      await expect.poll(() => running.length).toBe(3);
      for (const res of running.slice(1)) res.end('"profile":null}');
      expect((await Promise.all(exports)).map(({ status }) => status)).toEqual([200, 200, 200]);
    });
  });

  test('ends when the data API fails or the client disconnects', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let isBroken = false;
    const send: RequestListener = (_req, res) => {
      res.writeHead(200, json).write('{"profile":', () => isBroken && res.destroy());
      if (!isBroken) res.on('close', resolve);
    };
    await withSupabase(send, async (_api, { url, logged }) => {
      const leaving = new AbortController();
      await exportAt(url, token(), { signal: leaving.signal });
      leaving.abort();
      await ended; // the deadline of an export (1 min) would exceed the time limit of the test
      await expect.poll(() => logged.join('')).toContain('exportAccount aborted');
      expect(logged.join('')).not.toContain('"err"');

      isBroken = true;
      await expect(exportAt(url).then((res) => res.text())).rejects.toThrow();
      await expect.poll(() => logged.join('')).toContain('"message":"other side closed"');
    });
  });
});
