import type { RequestListener } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { token } from '../support/access-token.ts';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

/** Returns a data API that answers its first calls with this error. */
function failing(times: number, code: string, body = '[]') {
  const calls: (string | undefined)[] = [];
  const behave: RequestListener = ({ method, url }, res) => {
    const fails = calls.push(`${method} ${url}`) <= times;
    res.writeHead(fails ? 503 : 200, { 'Content-Type': 'application/json' });
    res.end(fails ? JSON.stringify({ code, message: 'lost', details: null, hint: null }) : body);
  };
  return { calls, behave };
}

test.for(['57P01', 'PGRST001'])('a read on a dead connection (%s) is repeated', async (code) => {
  const { calls, behave } = failing(15, code);
  await withSupabase(behave, async (api) => void (await api.get('/categories').expect(200)));
  expect(calls).toHaveLength(16);
});

test('a read fails after 15 repetitions with growing pauses if all connections stay dead', async () => {
  const { calls, behave } = failing(Number.POSITIVE_INFINITY, 'PGRST001');
  vi.useFakeTimers({ toFake: ['performance'] });
  const pauses: number[] = [];
  // The clock advances only in the pauses, which vitest's fake timers do not cover.
  const pausing = vi.spyOn(timers, 'setTimeout').mockImplementation(((ms = 0) => {
    pauses.push(ms);
    vi.advanceTimersByTime(ms);
    return Promise.resolve();
  }) as typeof timers.setTimeout);
  syncBuiltinESMExports();
  onTestFinished(() => {
    pausing.mockRestore();
    syncBuiltinESMExports();
    vi.useRealTimers();
  });
  await withSupabase(behave, async (api) => void (await api.get('/categories').expect(500)));
  expect(calls).toHaveLength(16);
  expect(pauses).toHaveLength(15);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect(new Set(pauses).size).toBe(15);
});

test('a read with another 503 is not repeated, because its deadline would pass first', async () => {
  const { calls, behave } = failing(1, 'PGRST000');
  await withSupabase(behave, async (api) => void (await api.get('/categories').expect(500)));
  expect(calls).toEqual(['GET /rest/v1/rpc/list_categories']);
});

test('a write on a dead connection is not repeated', async () => {
  const { calls, behave } = failing(1, 'PGRST001', 'null');
  await withSupabase(behave, async (api) => {
    const favorite = api.post('/favorites').auth(await token(), bearer);
    await favorite.send({ sound_id: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10' }).expect(500);
    expect(calls).toEqual(['POST /rest/v1/rpc/add_favorite']);
  });
});
