import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { addSound, addSounds } from '../../../test/support/catalogue.ts';
import type { Downloads } from '../src/downloads.ts';
import { type Device, pass, test } from './device.ts';
import { memoryFiles, record, start, storage } from './recordings.ts';

test('downloads run two at once, in parts, and audioOf returns the files', async ({ device, sql }) => {
  const ids = await addSounds(sql, [{}, {}, {}]);
  for (const [n, id] of ids.entries()) await record(sql, id, 'abc'[n] ?? '');
  const [files, server] = [memoryFiles(), storage()];
  const { fetch } = server;
  const downloads = start(device.api, { files, fetch });
  const both = Promise.withResolvers<undefined>();
  server.before = () => {
    if (server.running === 2) both.resolve(undefined);
    return both.promise;
  };
  const seen = new Set<string>();
  downloads.subscribe(() => {
    for (const state of downloads.states().values())
      seen.add('totalBytes' in state ? `${state.bytes} of ${state.totalBytes}` : state.status);
  });
  const [first = ''] = ids;
  const signed = await downloads.audioOf(first);
  expect(signed.url).toContain('/object/sign/audio/');
  await downloads.add(...ids, 'no id');
  await downloads.resume();
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'waiting',
      '0 of null',
      '0 of 2500000',
      '1000000 of 2500000',
      '2000000 of 2500000',
      'ready',
    ]),
  );
  expect(downloads.states().get('no id')).toEqual({ status: 'failed', reason: 'not_found' });
  for (const id of ids) expect(downloads.states().get(id)).toEqual({ status: 'ready', bytes: 2_500_000 });
  expect(server.ranges).toHaveLength(9);
  expect(server.mostRunning).toBe(2);
  expect(device.sent.filter((name) => name === 'POST /sounds/files').length).toBeLessThanOrEqual(2);

  device.network.before = () => 'cut';
  const { url, expiresAt } = await start(device.api, { files, fetch }).audioOf(first);
  expect(url).toMatch(/^file:.*\.m4a$/);
  expect(expiresAt.getTime()).toBeGreaterThan(Date.now() + 1e12);
  expect(Buffer.from(files.stored.get(String(url).slice(8)) ?? '').equals(Buffer.alloc(2_500_000, 'a'))).toBe(true);
  await downloads.remove(first);
  expect(downloads.states().has(first)).toBe(false);
  expect(files.stored.size).toBe(2);
});

/** Lets time pass quickly, except while a request is answered. */
function passTime({ network }: Pick<Device, 'network'>) {
  const work = { running: 0 };
  network.before = () => {
    work.running += 1;
    return undefined;
  };
  network.after = () => {
    work.running -= 1;
    return undefined;
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return {
    work,
    /** Waits until a download has ended. @returns its state */
    async endOf(downloads: Downloads, id: string) {
      for (;;) {
        const state = downloads.states().get(id);
        if (state?.status === 'failed' || state?.status === 'ready') {
          vi.useRealTimers();
          Object.assign(network, { before: pass, after: pass });
          return state;
        }
        await setImmediate();
        if (work.running === 0) vi.advanceTimersByTime(100);
      }
    },
  };
}

test('a download continues after a restart, with a new address if the old one has expired', async ({ device, sql }) => {
  const id = await addSound(sql);
  await record(sql, id, 'a');
  const [files, server] = [memoryFiles(), storage()];
  const { fetch, ranges } = server;
  const downloads = start(device.api, { files, fetch });
  server.before = () => {
    if (ranges.length > 1) throw new TypeError('No network.');
    return undefined;
  };
  await downloads.add(id);
  await expect.poll(() => ranges).toHaveLength(2);
  expect(await passTime(device).endOf(downloads, id)).toEqual({ status: 'failed', reason: 'no_answer' });
  expect(ranges).toEqual(['bytes=0-999999', ...Array(4).fill('bytes=1000000-1999999')]);

  ranges.length = 0;
  device.sent.length = 0;
  server.before = () => (ranges.length === 1 ? new Response('{}', { status: 400 }) : undefined);
  const restarted = start(device.api, { files, fetch });
  await restarted.resume();
  expect(restarted.states().get(id)).toEqual({ status: 'ready', bytes: 2_500_000 });
  expect(ranges).toEqual(['bytes=1000000-1999999', 'bytes=1000000-1999999', 'bytes=2000000-2499999']);
  expect(device.sent.filter((name) => name === 'POST /sounds/files')).toHaveLength(3); // the last one compares versions

  server.before = () => new Response('{}', { status: 404 });
  await record(sql, id, 'b');
  await device.api.offline.sync();
  await expect.poll(() => restarted.states().get(id)).toEqual({ status: 'failed', reason: 'not_found' });
  expect((await restarted.audioOf(id)).url).toMatch(/^file:/); // the old recording
});

test('recordings that change are downloaded again, and never mixed', async ({ device, sql }) => {
  const { api } = device;
  const id = await addSound(sql);
  await record(sql, id, 'a');
  const [files, server] = [memoryFiles(), storage()];
  const { fetch, ranges } = server;
  const downloads = start(api, { files, fetch });
  const letters = () => [...files.stored.values()].map((bytes) => new Set(Buffer.from(bytes).toString()));
  await downloads.add(id);
  await downloads.resume();
  await record(sql, id, 'b');
  await api.offline.sync();
  await expect.poll(letters).toEqual([new Set('b')]);
  expect(downloads.states().get(id)).toEqual({ status: 'ready', bytes: 2_500_000 });

  // Test with the ETag of Storage and without it, because browsers may hide it.
  for (const [letter, isHidden] of [
    ['c', false],
    ['d', true],
  ] as const) {
    await downloads.remove(id);
    ranges.length = 0;
    server.before = async (url) => {
      if (ranges.length === 3) await record(sql, id, letter);
      const response = await globalThis.fetch(url, { headers: { Range: ranges.at(-1) ?? '' } });
      const headers = { 'Content-Type': 'audio/mp4' };
      return isHidden ? new Response(await response.arrayBuffer(), { status: 206, headers }) : response;
    };
    await downloads.add(id);
    await downloads.resume();
    expect(letters()).toEqual([new Set(letter)]);
    expect(ranges).toHaveLength(6);
  }
});

test('a download fails with its reason, and is tried again', async ({ device, sql }) => {
  const { api } = device;
  const [silent, first, second] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
  for (const id of [first, second]) await record(sql, id, 'a');
  const [files, { fetch }] = [memoryFiles(), storage()];
  const downloads = start(api, { files, fetch, quotaBytes: 4_999_999 });
  const states = () => [silent, first, second].map((id) => Object.values(downloads.states().get(id) ?? {}));
  for (const id of [silent, first, second]) {
    await downloads.add(id);
    await downloads.resume();
  }
  expect(states()).toEqual([
    ['failed', 'not_found'],
    ['ready', 2_500_000],
    ['failed', 'quota'],
  ]);
  await downloads.remove(first);
  const { write } = files;
  files.write = (name, bytes, options) => {
    if (bytes.length > 0) throw new DOMException('No space left.', 'QuotaExceededError');
    write(name, bytes, options);
  };
  await downloads.resume();
  expect(states()).toEqual([['failed', 'not_found'], [], ['failed', 'storage']]);
  files.write = write;
  await record(sql, silent, 'a');
  await api.auth.signOut();
  await downloads.resume();
  expect(states()[0]).toEqual(['failed', 'session_ended']);
  await api.auth.signIn(device.account);
  await expect.poll(states).toEqual([['failed', 'quota'], [], ['ready', 2_500_000]]);
});

test('a download takes only the recording, and the whole file once from a server without Range', async ({
  device,
  sql,
}) => {
  const id = await addSound(sql);
  await record(sql, id, 'a');
  const [files, server] = [memoryFiles(), storage()];
  const { fetch, ranges } = server;
  const downloads = start(device.api, { files, fetch });
  const page = { status: 200, headers: { 'Content-Type': 'text/html' } };
  server.before = () => new Response('<h1>Welcome to the hotel</h1>', page);
  const { endOf } = passTime(device);
  await downloads.add(id.toUpperCase());
  expect(await endOf(downloads, id)).toEqual({ status: 'failed', reason: 'no_answer' });
  expect(ranges).toHaveLength(4);
  expect([...files.stored.values()].every(({ length }) => length === 0)).toBe(true);

  ranges.length = 0;
  server.before = (url) => globalThis.fetch(url);
  await downloads.resume();
  expect(downloads.states().get(id)).toEqual({ status: 'ready', bytes: 2_500_000 });
  expect(ranges).toEqual(['bytes=0-999999']);
  expect((await downloads.audioOf(id.toUpperCase())).url).toMatch(/^file:/);
  await downloads.remove(id.toUpperCase());
  expect(files.stored.size).toBe(0);
});

test('a slow network gets smaller parts until they arrive', async ({ device, sql }) => {
  const id = await addSound(sql);
  await record(sql, id, 'a');
  const [files, server] = [memoryFiles(), storage()];
  const { fetch, ranges } = server;
  const sizeOf = (range: string | null | undefined) => {
    const [first = 0, last = 0] = range?.match(/\d+/g)?.map(Number) ?? [];
    return last - first + 1;
  };
  const { work, endOf } = passTime(device);
  // Simulates a network with 8 kB/s, and delivers a part only when it is complete.
  server.before = async (url) => {
    const range = ranges.at(-1) ?? '';
    work.running += 1;
    const response = await globalThis.fetch(url, { headers: { Range: range } });
    const bytes = await response.arrayBuffer();
    work.running -= 1;
    await new Promise((resolve) => setTimeout(resolve, sizeOf(range) / 8));
    return new Response(bytes, response);
  };
  const downloads = start(device.api, { files, fetch });
  await downloads.add(id);
  expect(await endOf(downloads, id)).toEqual({ status: 'ready', bytes: 2_500_000 });
  expect(ranges.slice(0, 4).map(sizeOf)).toEqual([1_000_000, 500_000, 250_000, 125_000]);
});
