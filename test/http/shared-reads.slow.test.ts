import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { times } from '../limits/bursts.ts';
import { unissuedKey } from '../model/unissued-key.ts';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { until, withSupabase } from '../support/fake-supabase.ts';
import type { Gateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

/** Sends a request at once, because supertest sends it only when it is awaited. */
const statusOf = async (api: Api) => (await api.get('/categories')).status;

const sendList = (res: ServerResponse, list = '[]') =>
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(list);

test('a read under constant traffic shows every write that was committed before it started', async ({ app, sql }) => {
  const category = await addCategory(sql);
  const read = async (): Promise<{ id: string }[]> => (await app.get('/sounds').query({ category })).body.data;
  const traffic = { on: true };
  const readers = times(4, async () => {
    while (traffic.on) {
      await read();
      await sleep(5); // leaves time for other tests
    }
  });
  for (let write = 0; write < 15; write++) {
    const id = await addSound(sql, { category });
    expect((await read()).map((sound) => sound.id)).toContain(id);
    await sql`update public.sounds set is_active = false where id = ${id}`;
    expect(await read()).toEqual([]);
  }
  traffic.on = false;
  await readers;
});

/** Runs a check while Supabase holds four reads, so that other reads wait. `runs` has the response of each. */
async function withFourRuns(
  check: (api: Api, runs: ServerResponse[], first: Promise<number>[], gateway: Gateway) => Promise<void>,
) {
  const runs: ServerResponse[] = [];
  await withSupabase(
    (_req, res) => void runs.push(res),
    async (api, gateway) => {
      const first: Promise<number>[] = [];
      while (first.length < 4) {
        first.push(statusOf(api));
        await expect.poll(() => runs.length).toBe(first.length);
      }
      await check(api, runs, first, gateway);
    },
  );
}

/** Waits until this number of requests has arrived, and for some turns of the event loop, until they are enqueued. */
async function untilWaiting(gateway: Gateway, requests: number) {
  await expect.poll(gateway.arrived).toBe(requests);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

test('four identical reads run at once, then one for all others, even if its caller leaves', async () => {
  await withFourRuns(async (api, runs, first, gateway) => {
    const leader = new AbortController();
    const led = fetch(`${gateway.url}/categories`, { signal: leader.signal }).catch(() => 'gone');
    await expect.poll(gateway.arrived).toBe(5);
    const waiting = times(50, () => statusOf(api));
    await untilWaiting(gateway, 55);
    expect(runs).toHaveLength(4);
    leader.abort();
    expect(await led).toBe('gone');
    for (const res of runs.slice(1)) sendList(res);
    await expect.poll(() => runs.length).toBe(5);
    sendList(runs[4] as ServerResponse);
    expect(await waiting).toEqual(Array(50).fill(200)); // answered while the first run hangs

    const later = statusOf(api);
    await expect.poll(() => runs.length).toBe(6);
    sendList(runs[5] as ServerResponse);
    runs[0]?.destroy();
    expect(await Promise.all([...first, later])).toEqual([500, 200, 200, 200, 200]);
  });
});

test('simultaneous reads share no response if their queries differ', async () => {
  const runs: ServerResponse[] = [];
  await withSupabase(
    (req, res) => void (req.url?.includes('list_sounds') ? runs.push(res) : sendList(res)),
    async (_api, { url }) => {
      const headers = { Authorization: `Bearer ${await token()}` };
      const read = (limit: number) => fetch(`${url}/sounds?limit=${limit}`, { headers });
      // Send five reads, because only four of one query run at once.
      const answers = Promise.all([1, 2, 3, 4, 5].map(read));
      await expect.poll(() => runs.length).toBe(5);
      for (const res of runs) sendList(res, '{"data":[],"next_cursor":null}');
      for (const { status } of await answers) expect(status).toBe(200);
    },
  );
});

test('reads that share a failing run all fail, and the next read starts a new run', async () => {
  await withFourRuns(async (api, runs, first, gateway) => {
    const waiting = times(10, () => statusOf(api));
    await untilWaiting(gateway, 14);
    for (const res of runs) sendList(res);
    expect(await Promise.all(first)).toEqual(Array(4).fill(200));
    await expect.poll(() => runs.length).toBe(5);
    runs[4]?.writeHead(500).end();
    expect(await waiting).toEqual(Array(10).fill(500));
    const next = statusOf(api);
    await expect.poll(() => runs.length).toBe(6);
    sendList(runs[5] as ServerResponse);
    expect(await next).toBe(200);
  });
});

test('a shared read has the deadline of its youngest request, also after a stall of Supabase', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const runs: ServerResponse[] = [];
  await withSupabase(
    (_req, res) => void runs.push(res),
    async (api, gateway) => {
      const answers: Promise<number>[] = [];
      const ask = async () => {
        answers.push(statusOf(api));
        await until(() => gateway.arrived() === answers.length);
        for (let turn = 0; turn < 10; turn++) await nextTurn();
      };
      while (runs.length < 4) await ask();
      for (const [ms, requests] of [
        [500, 1],
        [4_400, 20],
      ] as const) {
        vi.advanceTimersByTime(ms);
        for (let n = 0; n < requests; n++) await ask();
      }
      vi.advanceTimersByTime(100); // the deadline of the first four
      await until(() => runs.length === 5);
      vi.advanceTimersByTime(4_800);
      for (let turn = 0; turn < 100; turn++) await nextTurn();
      sendList(runs[4] as ServerResponse);
      expect(await Promise.all(answers)).toEqual([...Array(4).fill(500), ...Array(21).fill(200)]);
    },
  ).finally(() => vi.useRealTimers());
});

test('reads with an API key are not shared, because each checks whether the key is active', async () => {
  await withFourRuns(async (api, runs, first) => {
    const withKey = times(6, async () => (await api.get('/categories').auth(unissuedKey(), bearer)).status);
    await expect.poll(() => runs.length).toBe(10);
    for (const res of runs) sendList(res);
    expect([...(await Promise.all(first)), ...(await withKey)]).toEqual(Array(10).fill(200));
  });
});
