import { expect } from 'vitest';
import { addCategory, addSection, addSounds } from '../../../test/support/catalogue.ts';
import type { Fault } from '../../../test/support/network.ts';
import { errorAnswer, faultsOf, pass, successAnswer, test, windowsOf, withoutRepeats } from './device.ts';

const idsOf = (sounds: { id: string }[]) => sounds.map(({ id }) => id);
const titlesOf = (list: { sounds: { title: string } | null }[]) => list.map(({ sounds }) => sounds?.title);

test('the copy lists sounds, searches, and returns sections as the service does', async ({ device, sql }) => {
  const { offline, sounds, home, categories } = device.api;
  const parent = await addCategory(sql);
  const category = await addCategory(sql, { parent });
  const titles = ['Café at dawn', 'Dawn in a tent', 'Rain'];
  const rows = titles.map((title, n) => ({ title, category, sort_order: n % 2, is_featured: n > 1 }));
  const ids = await addSounds(sql, rows);
  await sql`update public.sounds set tags = '{dawn,wet,Crème}' where id = ${ids[2] ?? null}`;
  const rule = { mode: 'rule', rule_type: 'category' };
  const slugs = [
    await addSection(sql, { ...rule, rule_value: category, sort_order: 2 }),
    await addSection(sql, { ...rule, rule_value: parent, rule_include_children: true, sort_order: 1 }),
  ];
  const own = <Row extends { slug: string }>(rows: Row[]) =>
    rows.filter(({ slug }) => [parent, ...slugs].includes(slug)); // without the categories of other tests
  expect(await offline.syncedAt()).toBeNull();
  await offline.sync();

  const children = { category: parent, include_children: true };
  const online = { list: (await sounds.page(children)).data, home: await home(), tree: await categories() };
  device.network.before = () => 'cut';
  expect(await offline.list(children)).toMatchObject(online.list);
  const tags = ['wet', 'Crème'.normalize('NFD')];
  expect(idsOf(await offline.list({ category, featured: true, tags }))).toEqual([ids[2]]);
  expect(await offline.list({ category: parent })).toEqual([]);
  const found = (await offline.search('DAW')).data.filter((sound) => sound.category === category);
  expect(found.map(({ title }) => title)).toEqual(['Dawn in a tent', 'Café at dawn', 'Rain']);
  expect(await offline.search(' ')).toEqual({ data: [] });
  expect(own(online.home).map(({ slug }) => slug)).toEqual(slugs.toReversed());
  expect(own(await offline.home())).toMatchObject(own(online.home));
  expect(own(await offline.categories())).toMatchObject(own(online.tree));
  expect(Math.abs(Date.now() - Number(await offline.syncedAt()))).toBeLessThan(60_000);
});

test('sync copies changes, keeps the copy if it fails, and resets an old copy', async ({ start, sql }) => {
  const device = await start();
  const others = { syncedAt: 1, category: {}, home_section: {} };
  const stale = { next: '00000000.7', sound: { gone: { id: 'gone' } }, ...others };
  device.store.items.set('sounds.catalogue', JSON.stringify(stale));
  await device.signUp();
  const { offline } = device.api;
  const [kept, hidden] = (await addSounds(sql, [{}, {}])) as [string, string];
  await Promise.all([offline.sync(), offline.sync()]);
  expect(device.sent.filter((name) => name === 'GET /history')).toHaveLength(1);
  expect(await offline.get('gone')).toBeNull();
  const before = await offline.syncedAt();

  await sql`update public.sounds set title = 'Another title' where id = ${kept}`;
  await sql`update public.sounds set is_active = false where id = ${hidden}`;
  const data = [{ kind: 'sound', id: hidden, sound: null }];
  const page = successAnswer({ data, next: 'a.1', has_more: true, reset: false });
  device.network.before = faultsOf('GET /catalogue/changes', page, errorAnswer(500, 'server_error'));
  const restarted = device.again(withoutRepeats).offline;
  await expect(restarted.sync()).rejects.toMatchObject({ code: 'server_error' });
  expect(await restarted.get(hidden)).not.toBeNull();
  expect(await restarted.syncedAt()).toEqual(before);
  await restarted.sync();
  expect(await restarted.get(kept)).toMatchObject({ title: 'Another title' });
  expect(await restarted.get(hidden)).toBeNull();
});

test('a long copy leaves half of the requests to the user, and is stored before it waits', async ({ device }) => {
  const stored: string[] = [];
  device.network.before = windowsOf('GET /catalogue/changes', 8, 4, (pages) => {
    stored.push(JSON.parse(device.store.items.get('sounds.catalogue') ?? '{}').next);
    return { data: [], next: `a.${pages}`, has_more: pages < 6, reset: false };
  });
  await device.again().offline.sync();
  expect(stored).toEqual([...Array(4).fill(undefined), 'a.4', 'a.5']);
});

test('copies of favorites and history contain later changes, and signing out deletes them', async ({ device, sql }) => {
  const rows = [{ title: 'kept' }, { title: 'removed' }, { title: 'added' }];
  const [kept, removed, added] = (await addSounds(sql, rows)) as [string, string, string];
  const { auth, favorites, history, plays, offline } = device.api;
  const expectEqual = async (copied: typeof offline) => {
    expect(await copied.favorites()).toEqual(await Array.fromAsync(favorites.list()));
    expect(await copied.history()).toEqual(await Array.fromAsync(history.list()));
  };
  const play = (id: string, secondsAgo: number) => plays.record(id, new Date(Date.now() - secondsAgo * 1000));
  for (const id of [kept, removed]) await favorites.add(id);
  await play(removed, 60);
  await play(kept, 40);
  await favorites.flush();
  await offline.sync();
  await expectEqual(offline);

  device.network.before = () => 'cut';
  await favorites.remove(removed);
  await favorites.add(added);
  await play(added, 20);
  await play(removed, 10);
  const copied = device.again(withoutRepeats).offline;
  expect(titlesOf(await copied.favorites())).toEqual(['added', 'kept']);
  expect(titlesOf(await copied.history())).toEqual(['removed', 'added', 'kept']);
  expect((await copied.history()).map((entry) => entry.plays)).toEqual([2, 1, 1]);

  device.network.before = pass;
  await favorites.flush();
  await copied.sync();
  await expectEqual(copied);
  await history.remove(kept);
  expect(titlesOf(await offline.history())).toEqual(['removed', 'added']);
  await history.clear();
  expect(await offline.history()).toEqual([]);

  await plays.record(kept);
  expect(device.keys('sounds.copy.')).toHaveLength(2);
  await auth.signOut();
  await expect.poll(() => device.keys('sounds.copy.')).toEqual([]);
});

test('sync goes on while one of its callers is left, and ends when all are aborted', async ({ device }) => {
  const { api, network, sent } = device;
  const [first, last] = [new AbortController(), new AbortController()];
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<Fault>();
  network.before = () => {
    arrived.resolve();
    return held.promise;
  };
  const aborted = api.offline.sync({ signal: first.signal });
  const other = api.offline.sync();
  await arrived.promise;
  first.abort(new Error('The screen is closed.'));
  await expect(aborted).rejects.toThrow('The screen is closed.');
  held.resolve(undefined);
  await other;
  expect(await api.offline.syncedAt()).toBeInstanceOf(Date);
  // Other tests add sounds, so that the copy may have several pages.
  expect([...new Set(sent)]).toEqual(['GET /catalogue/changes', 'GET /favorites', 'GET /history', 'GET /progress']);

  await expect(api.offline.sync({ signal: first.signal })).rejects.toThrow('The screen is closed.');
  network.before = () => new Promise(() => {});
  const both = [api.offline.sync({ signal: last.signal }), api.offline.sync({ signal: last.signal })];
  last.abort();
  for (const call of both) await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  network.before = pass;
  await api.offline.sync();
});
