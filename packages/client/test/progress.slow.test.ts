import { expect, vi } from 'vitest';
import { addSounds } from '../../../test/support/catalogue.ts';
import type { Fault } from '../../../test/support/network.ts';
import { type Device, faultsOf, nameOf, pass, test, withoutRepeats } from './device.ts';

const two = [{ title: 'Bowls' }, { title: 'Rain' }];
const shelf = (list: { position_sec: number; sounds: { title: string } | null }[]) =>
  list.map(({ position_sec, sounds }) => [sounds?.title, position_sec]);

/** Makes the unsent positions of a device ten seconds older. */
function age({ store, keys }: Device) {
  for (const key of keys('sounds.progress.')) {
    const entries: Record<string, { updated_at: string }> = JSON.parse(store.items.get(key) ?? '');
    for (const entry of Object.values(entries))
      entry.updated_at = new Date(Date.parse(entry.updated_at) - 10_000).toISOString();
    store.items.set(key, JSON.stringify(entries));
  }
}

test('positions are sent every 15 seconds, the newest of each sound, and reach other devices', async ({
  device,
  start,
  sql,
}) => {
  const { api, sent } = device;
  const [bowls, rain] = (await addSounds(sql, two)) as [string, string];
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  for (const seconds of [30, 31, 32]) await api.progress.save(bowls, seconds);
  await api.progress.save(rain, 600.5);
  vi.advanceTimersByTime(14_999);
  await api.me(); // positions that are sent early would be sent meanwhile
  const early = [...sent];
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  expect(early).toEqual(['GET /me']);
  await expect.poll(() => device.keys('sounds.progress.')).toEqual([]);
  expect(sent).toEqual(['GET /me', 'PUT /progress']);
  expect(await api.progress.of(bowls)).toBe(32);

  const held = Promise.withResolvers<Fault>();
  device.network.after = () => held.promise;
  await api.progress.save(bowls, 33);
  const flushing = api.progress.flush();
  await expect.poll(() => sent).toHaveLength(3);
  await api.progress.save(bowls, 34);
  held.resolve(undefined);
  await flushing;
  expect(await api.progress.of(bowls)).toBe(34);
  await api.progress.flush();

  const other = (await start()).api;
  await other.auth.signIn(device.account);
  expect(await other.progress.list()).toEqual([]);
  await other.offline.sync();
  expect(shelf(await other.progress.list())).toEqual([
    ['Bowls', 34],
    ['Rain', 600.5],
  ]);
  await other.progress.save(rain, null);
  await other.progress.flush();
  await api.progress.sync();
  expect(await api.progress.of(rain)).toBeNull();
  expect(shelf(await api.progress.list())).toEqual([['Bowls', 34]]);
});

test('positions survive a restart without a network, and refused ones are told', async ({ device, sql }) => {
  const [bowls, rain] = (await addSounds(sql, two)) as [string, string];
  await device.api.offline.sync();
  device.network.before = () => 'cut';
  await device.api.progress.save(bowls, 40);
  age(device);
  const { progress } = device.again(withoutRepeats);
  await progress.save(rain, 50);
  age(device);
  await progress.save('no id', 60);
  await progress.save(bowls, Number.NaN);
  await expect(progress.flush()).rejects.toMatchObject({ code: 'no_answer' });
  await expect(progress.sync()).rejects.toMatchObject({ code: 'no_answer' });
  expect(shelf(await progress.list())).toEqual([
    [undefined, 60],
    ['Rain', 50],
    ['Bowls', 40],
  ]);
  device.network.before = pass;
  device.network.after = faultsOf('PUT /progress', undefined, 'cut'); // saved, but the response is lost
  await expect(device.again().progress.flush()).rejects.toMatchObject({ reason: 'validation', field: 'entries' });
  expect(device.keys('sounds.progress.')).toEqual([]);
  await progress.sync();
  expect(shelf(await progress.list())).toEqual([
    ['Rain', 50],
    ['Bowls', 40],
  ]);
});

test('a sign-out sends positions first, and keeps those that it cannot send', async ({ device, sql }) => {
  const { api, sent, network, account } = device;
  const [bowls] = (await addSounds(sql, two)) as [string];
  const signedOut = async (seconds: number) => {
    sent.length = 0;
    await api.progress.save(bowls, seconds);
    await api.auth.signOut();
    await expect(api.progress.of(bowls)).rejects.toMatchObject({ reason: 'session_ended' });
  };
  await signedOut(40);
  expect(sent).toEqual(['PUT /progress', 'POST /auth/signout']);
  expect(device.keys('sounds.')).toEqual(['sounds.config']);

  await api.auth.signIn(account);
  expect(await api.progress.of(bowls)).toBeNull();
  network.before = (request) => (nameOf(request) === 'PUT /progress' ? new Promise(() => {}) : undefined);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const leaving = signedOut(50);
  await vi.waitUntil(() => sent.length === 1);
  vi.advanceTimersByTime(5_000);
  await leaving;
  vi.useRealTimers();
  expect(sent).toEqual(['PUT /progress', 'POST /auth/signout']);
  network.before = pass;
  await api.auth.signIn(account);
  await api.progress.sync();
  expect(await api.progress.of(bowls)).toBe(50);
  await api.progress.save(bowls, 60);
  await api.auth.signIn(account);
  await api.auth.deleteAccount();
  expect(device.keys('sounds.progress.')).toEqual([]);
});

test('an older report gets the newer position, and the history removes positions', async ({ device, start, sql }) => {
  const [bowls, rain] = (await addSounds(sql, two)) as [string, string];
  const other = (await start()).api;
  await other.auth.signIn(device.account);
  const { progress, history } = device.api;
  device.network.before = () => 'cut';
  await progress.save(bowls, 30);
  age(device);
  await other.progress.save(bowls, 80);
  await other.progress.save(rain, 90);
  await other.progress.flush();
  device.network.before = pass;
  await progress.flush();
  expect(await progress.of(bowls)).toBe(80);

  await progress.save(rain, 100);
  await history.remove(rain);
  await progress.flush();
  expect([await progress.of(rain), await progress.of(bowls)]).toEqual([null, 80]);
  await history.clear();
  expect(await progress.list()).toEqual([]);
  await other.progress.sync();
  expect(await other.progress.list()).toEqual([]);
});

test('flush with keepalive sends positions at once, also one that is being stored', async ({ device, start, sql }) => {
  const { api, sent, network, store, account } = device;
  const [bowls, rain] = (await addSounds(sql, two)) as [string, string];
  network.before = () => 'cut';
  await api.progress.save(bowls, 40);
  network.before = pass;
  device.change({ expires_at: 0 }); // no time for a refresh
  sent.length = 0;
  const storing = Promise.withResolvers<void>();
  store.before = (method) => (method === 'setItem' ? storing.promise : undefined);
  using fetched = vi.spyOn(globalThis, 'fetch');
  const saving = api.progress.save(rain, 50);
  const leaving = api.progress.flush({ keepalive: true });
  await expect.poll(() => sent).toEqual(['PUT /progress']);
  expect(fetched.mock.calls[0]?.[0]).toHaveProperty('keepalive', true);
  const other = (await start()).api;
  await other.auth.signIn(account);
  await expect
    .poll(async () => {
      await other.progress.sync();
      return shelf(await other.progress.list());
    })
    .toHaveLength(2);
  storing.resolve();
  await Promise.all([saving, leaving]);
  await api.progress.flush();
  expect(device.keys('sounds.progress.')).toEqual([]);
});
