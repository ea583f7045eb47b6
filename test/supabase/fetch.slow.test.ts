import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { createFetch } from '../../src/supabase/fetch.ts';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

const times = <T>(count: number, run: () => PromiseLike<T>) =>
  Promise.all(Array.from({ length: count }, run));

describe('load beyond what Supabase can take', () => {
  test('reaches Supabase over 128 connections, and gets 500 after 5 seconds', async () => {
    const calls = { now: 0, most: 0 };
    let answering = false;
    const send = (res: ServerResponse) =>
      res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    await withSupabase(
      (_req, res) => {
        if (answering) return send(res);
        calls.most = Math.max(calls.most, ++calls.now);
        return res.once('close', () => calls.now--);
      },
      async (api) => {
        const accessToken = await token();
        const list = () => api.get('/favorites').auth(accessToken, bearer);
        const answers = await times(300, list);
        expect(calls.most).toBe(128);
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
        answering = true;
        await list().expect(200);
      },
    );
  });

  test('a hanging Auth does not delay the catalogue', async () => {
    const held: ServerResponse[] = [];
    let hangs = true;
    const hangingAuth: RequestListener = (req, res) => {
      if (!req.url?.startsWith('/auth/'))
        res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
      else if (hangs) held.push(res);
      else res.destroy();
    };
    await withSupabase(hangingAuth, async (api) => {
      const refreshes = times(150, () => api.post('/auth/refresh').send({ refresh_token: randomUUID() }));
      await expect.poll(() => held.length).toBe(128); // as many as there are connections
      const { status } = await api.get('/categories');
      hangs = false;
      for (const res of held) res.destroy();
      for (const refresh of await refreshes) expect(refresh.status).toBe(500);
      expect(status).toBe(200);
    });
  });

  test('rejects calls at once when too many are in flight', async () => {
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
});
