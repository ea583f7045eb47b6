import { expect, vi } from 'vitest';
import { addSound, addSounds } from '../../../test/support/catalogue.ts';
import { inPieces } from '../src/store.ts';
import { fakeTimers, phoneStore, test } from './device.ts';

const broken = new Error('QuotaExceededError');

/** Failures of an access to a store. */
const failures: Record<string, () => unknown> = {
  throws: () => {
    throw broken;
  },
  'returns garbage': () => '{"sound": 5',
  'returns JSON of something else': () => '"a text"',
  'returns a number': () => 7,
};

test.for(Object.entries(failures))('a call survives an offlineStore that %s', async ([, fail], { start, sql }) => {
  const offlineStore = phoneStore();
  const device = await start({ offlineStore });
  const { user } = await device.signUp();
  const id = await addSound(sql, { title: 'A bowl' });
  await device.api.offline.sync();

  const api = device.again({ offlineStore });
  const { offline, favorites, plays, history } = api;
  offlineStore.before = fail;
  await favorites.add(id);
  await favorites.flush();
  await plays.record(id);
  expect(await Array.fromAsync(favorites.list())).toMatchObject([{ sound_id: id }]);
  expect(await Array.fromAsync(history.list())).toMatchObject([{ sound_id: id, plays: 1 }]);
  const reads = [
    offline.list(),
    offline.home(),
    offline.categories(),
    offline.search('bowl').then(({ data }) => data),
    offline.favorites(),
  ];
  expect(await Promise.all(reads)).toEqual(reads.map(() => []));
  expect([await offline.get(id), await offline.syncedAt()]).toEqual([null, null]);

  offlineStore.repair();
  expect(await offline.get(id)).toMatchObject({ title: 'A bowl' });
  offlineStore.before = fail;
  await offline.sync();
  expect(await offline.get(id)).toMatchObject({ title: 'A bowl' }); // from memory
  await api.auth.signOut();
  expect(device.events.at(-1)).toEqual({ type: 'signedOut', user, reason: 'asked' });
});

test('copies live in memory after their store has not answered for five seconds once', async ({ start }) => {
  const offlineStore = phoneStore();
  const { api } = await start({ offlineStore });
  offlineStore.before = () => new Promise(() => {}); // as IndexedDB may do
  fakeTimers('setTimeout');
  let sounds: unknown;
  void api.offline.list().then((found) => {
    sounds = found;
  });
  while (sounds === undefined) await vi.advanceTimersByTimeAsync(1_000);
  expect(sounds).toEqual([]);
  await api.offline.syncedAt(); // waits for no timer
});

test('a store that never answers fails after five seconds', async ({ start }) => {
  const offlineStore = phoneStore();
  const { api } = await start({ offlineStore });
  offlineStore.before = () => new Promise(() => {});
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const list = api.offline.list();
  await vi.advanceTimersByTimeAsync(4_900);
  offlineStore.repair();
  await vi.advanceTimersByTimeAsync(100);
  vi.useRealTimers();
  expect(await list).toEqual([]);
});

test('the session and unsent changes live in memory while the store has no space', async ({ start, sql }) => {
  const device = await start();
  const { api, store, events } = device;
  const id = await addSound(sql);
  store.before = (method) => {
    if (method === 'setItem') throw broken;
  };
  const { user } = await device.signUp();
  expect(await api.me()).toMatchObject({ id: user.id });
  await api.plays.record(id);
  await api.favorites.add(id);
  expect(await Array.fromAsync(api.history.list())).toMatchObject([{ plays: 1 }]);
  await api.favorites.flush();
  expect((await api.sounds.get(id)).play_count).toBe(1);
  expect(await Array.fromAsync(api.favorites.list())).toHaveLength(1);
  expect(device.stored()).toBeNull();
  await api.auth.signIn(await device.signUp());
  await expect.poll(() => events).toContainEqual({ type: 'notStored', user: expect.anything(), error: broken });

  store.repair();
  const account = await device.signUp();
  expect(await device.again().me()).toMatchObject({ id: account.user.id });
  store.before = (method) => {
    if (method === 'removeItem') throw broken;
  };
  await api.auth.signOut();
  store.repair();
  expect(await api.auth.user()).toBeNull();
});

test('a store that cannot be read at first, or later, does not lose the user', async ({ device }) => {
  const { store, account } = device;
  store.before = failures['throws'] as () => never;
  const api = device.again();
  expect(api.session.user()).toBeUndefined();
  await expect(api.me()).rejects.toThrow(broken);
  store.repair();
  const seen: unknown[] = [];
  api.session.subscribe(() => seen.push(api.session.user()));
  expect(api.session.user()).toBeUndefined(); // starts another read of the store
  await expect.poll(() => api.session.user()).toEqual(account.user);
  expect(seen).toEqual([account.user]);

  store.before = failures['throws'] as () => never; // such as a keychain while the phone is locked
  expect(await api.me()).toMatchObject({ id: account.user.id });
  store.before = failures['returns JSON of something else'] as () => string;
  expect(await api.auth.user()).toBeNull();
  await expect(api.me()).rejects.toMatchObject({ reason: 'session_ended' });
});

test('another tab that signs in replaces a session that could not be stored', async ({ start }) => {
  const device = await start();
  const other = device.again();
  device.store.before = (method) => {
    if (method === 'setItem') throw broken;
  };
  await device.signUp();
  device.store.repair();
  const account = await start().then((another) => another.signUp());
  await other.auth.signIn(account);
  expect(await device.api.auth.user()).toEqual(account.user);
});

test('a copy is stored in pieces of at most 500 KB, and lasts until the next is complete', async () => {
  const store = phoneStore();
  const pieces = inPieces(store);
  const sizes = () => [...store.items.values()].map((text) => Buffer.byteLength(text));
  store.items.set('a', 'the copy of an earlier version');
  expect(await pieces.getItem('a')).toBe('the copy of an earlier version');
  const [first, second] = ['🎵', 'ä'].map((character) => character.repeat(400_000)) as [string, string];
  await pieces.setItem('a', first);
  expect(Math.max(...sizes())).toBeLessThanOrEqual(500_000);
  expect(await inPieces(store).getItem('a')).toBe(first);

  let writes = 0;
  store.before = (method) => {
    if (method === 'setItem' && ++writes > 1) throw broken;
  };
  await expect(pieces.setItem('a', second)).rejects.toThrow(broken);
  store.repair();
  expect(await pieces.getItem('a')).toBe(first);
  await pieces.setItem('a', second);
  expect(await pieces.getItem('a')).toBe(second);
  store.items.delete('a.b1');
  await expect(pieces.getItem('a')).rejects.toThrow('a is missing');
  await pieces.setItem('a', 'short');
  expect([...store.items.keys()]).toEqual(['a']);
  await pieces.setItem('a', first);
  await pieces.removeItem('a');
  expect(store.items.size).toBe(0);
});

test('a large copy survives a restart, and is made again when a piece is lost', async ({ device, sql }) => {
  const description = 'x'.repeat(4_000);
  const [id = ''] = await addSounds(sql, Array(150).fill({ description }));
  await device.api.offline.sync();
  const pieces = device.keys('sounds.catalogue.');
  expect(pieces.length).toBeGreaterThan(1);
  expect(await device.again().offline.get(id)).toMatchObject({ description });
  device.store.items.delete(pieces[0] ?? '');
  const { offline } = device.again();
  expect(await offline.list()).toEqual([]);
  await offline.sync();
  expect(await device.again().offline.get(id)).toMatchObject({ description });
});
