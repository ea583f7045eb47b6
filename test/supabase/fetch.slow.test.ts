import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'vitest';
import { createFetch } from '../../src/supabase/fetch.ts';
import { times } from '../limits/bursts.ts';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { sendSession, withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

test('a hanging data API gets 128 calls at once, all fail in time, and do not delay Auth', async () => {
  const calls = { now: 0, most: 0 };
  let hangs = true;
  const behave: RequestListener = (req, res) => {
    if (req.url?.startsWith('/auth/')) return sendSession(res);
    if (!hangs) return res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    calls.most = Math.max(calls.most, ++calls.now);
    return res.once('close', () => calls.now--);
  };
  await withSupabase(behave, async (api) => {
    const accessToken = await token();
    const list = () => api.get('/favorites').auth(accessToken, bearer);
    const lists = times(300, list);
    await expect.poll(() => calls.now).toBe(128);
    await api.post('/auth/refresh').send({ refresh_token: 'abcdefghijkl' }).expect(200);
    expect(calls.now).toBe(128);
    expect((await lists).map(({ status }) => status)).toEqual(Array(300).fill(500));
    expect(calls.most).toBe(128);
    hangs = false;
    await list().expect(200);
  });
});

test('the 4,097th call in flight is rejected at once', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { fetch, close } = createFetch(null);
  const call = () => fetch(`${url}/rest/v1/rpc/list_sounds`);
  const waiting = times(4_096, () => call().catch((error: unknown) => error));
  await expect(call()).rejects.toThrow('Too many calls to Supabase are in flight');
  for (const error of await waiting)
    expect(error).toMatchObject({ message: 'No response from /rest/v1/rpc/list_sounds' });
  await close();
  silent.close();
});
