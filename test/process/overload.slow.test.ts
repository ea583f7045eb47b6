import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect } from 'vitest';
import { createFetch } from '../../src/supabase/fetch.ts';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { watchLag } from '../support/lag.ts';
import { test } from '../support/test.ts';

const times = <T>(count: number, run: () => PromiseLike<T>) =>
  Promise.all(Array.from({ length: count }, run));

describe('load beyond what Supabase can take', () => {
  test('excess load is shed within the deadline, while as many requests as possible are served', async () => {
    const calls = { now: 0, most: 0 };
    const afterThreeSeconds: RequestListener = (req, res) => {
      req.resume();
      calls.most = Math.max(calls.most, ++calls.now);
      res.once('close', () => calls.now--);
      setTimeout(() => res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'), 3_000);
    };
    await withSupabase(afterThreeSeconds, async (api, gateway) => {
      const accessToken = await token();
      const list = () => api.get('/favorites').auth(accessToken, bearer);
      const lag = watchLag();
      const started = performance.now();
      const answers = await times(300, list);
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      // 128 connections, each good for one answer every 3 seconds: one within the 5, unless a busy machine asks late.
      const rounds = Math.floor((performance.now() - started) / 3_000);
      expect(calls.most).toBeLessThanOrEqual(128);
      expect(count(200)).toBeGreaterThan(0);
      expect(count(200)).toBeLessThanOrEqual(128 * rounds);
      expect(count(500)).toBeGreaterThan(0);
      expect(count(200) + count(500)).toBe(300);
      const seconds = gateway.logged
        .map((line) => JSON.parse(line).durationMs / 1_000)
        .filter(Number.isFinite);
      expect(seconds.length).toBeGreaterThanOrEqual(300);
      // Queued without a deadline, the last would have taken 9.
      expect(Math.max(...seconds)).toBeLessThan(6 + lag());
      await list().expect(200);
    });
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
      expect(error).toMatchObject({ message: 'No answer from /rest/v1/rpc/list_sounds' });
    await close();
    silent.close();
  });
});
