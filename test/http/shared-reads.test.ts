import type { RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';

import { createSharedReads } from '../../src/http/shared-reads.ts';
import { unissuedKey } from '../model/unissued-key.ts';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

/** A Supabase that answers catalogue reads, and everything that a test wants to know of it. */
function catalogue(answer: (res: ServerResponse, run: number) => void) {
  const runs: string[] = [];
  const behave: RequestListener = (req, res) => {
    if (req.url?.includes('touch_last_seen')) return res.end('true');
    req.resume().on('end', () => answer(res, runs.push(req.url ?? '')));
    return undefined;
  };
  return { runs, behave };
}

/** Asks at once, unlike a request of supertest, which waits for somebody to await it. */
const statusOf = async (api: Api) => (await api.get('/categories')).status;

/** Pause of each reader between its requests, because other tests run at the same time. */
const pauseMs = 5;

const sendList = (res: ServerResponse) =>
  res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');

describe('catalogue reads under constant traffic', () => {
  test('a read shows every write that was committed before it started', async ({ api, sql, user }) => {
    const slug = await addCategory(sql);
    const token = user.access_token;
    const read = async (): Promise<{ id: string }[]> =>
      (await api.get('/sounds').query({ category: slug }).auth(token, bearer)).body.data;
    const traffic = { on: true };
    const readers = times(4, async () => {
      while (traffic.on) {
        await read();
        await sleep(pauseMs);
      }
    });
    for (let write = 0; write < 15; write++) {
      const id = await addSound(sql, { category: slug });
      expect((await read()).map((sound) => sound.id)).toContain(id);
      await sql`update public.sounds set is_active = false where id = ${id}`;
      expect(await read()).toEqual([]);
    }
    traffic.on = false;
    await readers;
  });
});

describe('identical catalogue reads', () => {
  test('simultaneous reads share a run', async () => {
    const held: ServerResponse[] = [];
    let holding = true;
    const { runs, behave } = catalogue((res) => (holding ? held.push(res) : sendList(res)));
    await withSupabase(behave, async (api, gateway) => {
      const answers = times(51, () => statusOf(api));
      await expect.poll(gateway.arrived).toBe(51);
      // The last ones are a few turns of the event loop away from asking.
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      // Four at once, and one for all who wait then.
      expect(runs.length).toBeLessThanOrEqual(4);
      holding = false;
      for (const res of held) sendList(res);
      expect(await answers).toEqual(Array(51).fill(200));
      expect(runs.length).toBeLessThanOrEqual(5);
      const shared = runs.length;
      await statusOf(api);
      expect(runs).toHaveLength(shared + 1);
    });
  });

  test('reads with an API key are not shared, because each checks whether the key is active', async () => {
    const held: ServerResponse[] = [];
    const behave: RequestListener = async (req, res) => {
      if ((await text(req)).includes('list_categories')) held.push(res);
      else sendList(res);
    };
    await withSupabase(behave, async (api) => {
      const answers = times(
        6,
        async () => (await api.get('/categories').auth(unissuedKey(1), bearer)).status,
      );
      await expect.poll(() => held.length).toBe(6);
      for (const res of held) sendList(res);
      expect(await answers).toEqual(Array(6).fill(200));
    });
  });

  test('reads that share a failing run all fail, and the next read starts a new run', async () => {
    let failing = true;
    const { runs, behave } = catalogue((res, run) =>
      setTimeout(() => (failing && run > 1 ? res.writeHead(500).end() : sendList(res)), 100),
    );
    await withSupabase(behave, async (api) => {
      const first = statusOf(api);
      await expect.poll(() => runs.length).toBe(1);
      const waiting = await times(10, () => statusOf(api));
      expect(await first).toBe(200);
      expect(waiting).toEqual(Array(10).fill(500));
      expect(runs.length).toBeLessThan(11);
      failing = false;
      expect(await statusOf(api)).toBe(200);
    });
  });

  test('a run that hangs fails its own caller after 5 seconds, and the others are served', async () => {
    const { runs, behave } = catalogue((res, run) => {
      if (run > 1) sendList(res);
    });
    await withSupabase(behave, async (api) => {
      const hanging = statusOf(api);
      await expect.poll(() => runs.length).toBe(1);
      const ended: string[] = [];
      const hung = hanging.then(() => ended.push('the caller of the run'));
      const served = await times(10, () => statusOf(api)).finally(() => ended.push('the others'));
      expect(served).toEqual(Array(10).fill(200));
      await hung;
      expect(ended).toEqual(['the others', 'the caller of the run']);
      expect(await hanging).toBe(500);
    });
  });

  test('reads survive the client that led their run', async () => {
    const { runs, behave } = catalogue((res) => setTimeout(() => sendList(res), 200));
    await withSupabase(behave, async (api, gateway) => {
      const first = statusOf(api);
      await expect.poll(() => runs.length).toBe(1);
      const leader = new AbortController();
      const led = fetch(`${gateway.url}/categories`, { signal: leader.signal }).catch(() => 'gone');
      const waiting = times(10, () => statusOf(api));
      await expect.poll(() => runs.length, { interval: 10 }).toBeGreaterThan(1);
      leader.abort();
      expect(await led).toBe('gone');
      expect(await waiting).toEqual(Array(10).fill(200));
      expect(await first).toBe(200);
    });
  });
});

describe('a read that many ask for all the time', () => {
  test('a read runs four times at once at most', async () => {
    const sharedReads = createSharedReads();
    const underWay = new Set<() => void>();
    let runs = 0;
    const run = async () => {
      runs++;
      const { promise, resolve } = Promise.withResolvers<void>();
      underWay.add(resolve);
      await promise;
      underWay.delete(resolve);
    };
    const asked: Promise<void>[] = [];
    for (let count = 0; count < 10; count++) {
      asked.push(sharedReads('read', run));
      for (let turn = 0; turn < 3; turn++) await nextTurn();
    }
    expect([runs, underWay.size]).toEqual([4, 4]);

    const [first] = underWay;
    first?.();
    await asked[0];
    await expect.poll(() => [runs, underWay.size]).toEqual([5, 4]);
    for (const end of underWay) end();
    await Promise.all(asked);
    expect(runs).toBe(5);
  });
});
