import { describe, expect } from 'vitest';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import { errorAnswer, faultsOf, phoneStore, test, withoutRepeats } from './device.ts';
import { serveClient } from './serve-client.ts';

const idsOf = (sounds: { id: string }[]) => sounds.map(({ id }) => id);

describe('the copy of the catalogue', () => {
  test('the copy lists, searches and shows sections without a network as the service does', async ({
    device,
    sql,
  }) => {
    const parent = await addCategory(sql);
    const category = await addCategory(sql, { parent });
    const ids = await addSounds(
      sql,
      ['Café at dawn', 'Dawn in a tent', 'Rain'].map((title, n) => ({
        title,
        category,
        sort_order: n % 2,
        is_featured: n > 1,
      })),
    );
    await sql`update public.sounds set tags = '{dawn,wet}' where id = ${ids[2] ?? null}`;
    const section = await addSection(sql, { mode: 'rule', rule_type: 'category', rule_value: category });
    const { offline } = device.api;
    expect(await offline.syncedAt()).toBeNull();
    const before = await device.api.categories(); // other tests add some
    await offline.sync();

    const online = {
      list: (await device.api.sounds.page({ category: parent, include_children: true })).data,
      home: await device.api.home(),
    };
    device.network.before = () => 'cut';
    expect(await offline.list({ category: parent, include_children: true })).toMatchObject(online.list);
    expect(idsOf(await offline.list({ category, featured: true, tags: ['wet'] }))).toEqual([ids[2]]);
    expect(await offline.list({ category: parent })).toEqual([]);
    const found = (await offline.search('DAW')).filter((sound) => sound.category === category);
    expect(found.map(({ title }) => title)).toEqual(['Café at dawn', 'Dawn in a tent', 'Rain']);
    expect(await offline.search('cafe dawn tent')).toEqual([]);
    expect(await offline.search(' ')).toEqual([]);
    const copied = await offline.home();
    const own = ({ slug }: { slug: string }) => slug === section; // other tests change theirs
    expect(copied.filter(own)).toMatchObject(online.home.filter(own));
    const known = new Set(idsOf(online.home));
    const inBoth = new Set(idsOf(copied).filter((id) => known.has(id)));
    expect(idsOf(copied).filter((id) => inBoth.has(id))).toEqual(
      idsOf(online.home).filter((id) => inBoth.has(id)),
    );
    const slugs = (tree: { slug: string }[]) => tree.map(({ slug }) => slug);
    expect(slugs(await offline.categories())).toEqual(expect.arrayContaining(slugs(before)));
    const age = Date.now() - ((await offline.syncedAt())?.getTime() ?? 0);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60_000);
  });

  test('sync copies changes and removals, also after a restart', async ({ device, sql }) => {
    const [kept, hidden] = (await addSounds(sql, [{}, {}])) as [string, string];
    await device.api.offline.sync();
    await sql`update public.sounds set title = 'Another title' where id = ${kept}`;
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    const restarted = await device.again();
    await restarted.offline.sync();
    expect(await restarted.offline.get(kept)).toMatchObject({ title: 'Another title' });
    expect(await restarted.offline.get(hidden)).toBeNull();
  });

  test('sync starts again with an empty copy when the service says reset', async ({ start, sql }) => {
    const id = await addSound(sql);
    const store = phoneStore();
    const stale = {
      next: '00000000.7',
      syncedAt: 1,
      sound: { gone: { id: 'gone' } },
      category: {},
      home_section: {},
    };
    store.items.set('sounds.catalogue', JSON.stringify(stale));
    const device = await start({ store });
    await device.signUp();
    await device.api.offline.sync();
    expect(await device.api.offline.get('gone')).toBeNull();
    expect(await device.api.offline.get(id)).not.toBeNull();
  });

  test('a failed sync changes nothing, and concurrent syncs share one run', async ({ device, sql }) => {
    await Promise.all([device.api.offline.sync(), device.api.offline.sync()]);
    expect(device.sent.filter((name) => name === 'GET /history')).toHaveLength(1);
    const before = await device.api.offline.syncedAt();
    const id = await addSound(sql);
    device.network.before = faultsOf('GET /catalogue/changes', errorAnswer(500, 'server_error'));
    const { offline } = await device.again(withoutRepeats);
    await expect(offline.sync()).rejects.toMatchObject({ code: 'server_error' });
    expect([await offline.get(id), await offline.syncedAt()]).toEqual([null, before]);
  });

  test('browsers keep the copy in IndexedDB', async ({ skip, sql }) => {
    skip(!canRunBrowser, 'Install chromium to run the client in a browser.');
    const { origin, gateway } = await serveClient();
    const id = await addSound(sql);
    await inBrowser(origin, { width: 1280, colorScheme: 'light' }, async (page) => {
      const start = `import('/client.js').then(({ createSounds }) => {
        globalThis.api = createSounds({ url: '${gateway.url}', store: localStorage });
      })`;
      await page.evaluate(start);
      await page.evaluate(`api.auth.signUp({ email: '${newEmail()}', password: '${password}' })`);
      await page.evaluate('api.offline.sync()');
      await page.reload();
      await page.evaluate(start);
      expect(await page.evaluate(`api.offline.get('${id}')`)).toMatchObject({ id });
      expect(await page.evaluate('Object.keys(localStorage).join()')).not.toContain('catalogue');
    });
  });
});

describe('the copies of favorites and history', () => {
  test('offline.favorites and offline.history work without a network, with later changes', async ({
    device,
    sql,
  }) => {
    const [kept, removed, added] = (await addSounds(sql, [{}, {}, {}])) as [string, string, string];
    const { favorites, history, plays, offline } = device.api;
    for (const id of [removed, kept]) await favorites.add(id);
    const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
    await plays.record(removed, secondsAgo(40));
    await plays.record(kept, secondsAgo(30));
    await favorites.flush();
    await offline.sync();
    const online = {
      favorites: await Array.fromAsync(favorites.list()),
      history: await Array.fromAsync(history.list()),
    };
    expect(await offline.favorites()).toEqual(online.favorites);
    expect(await offline.history()).toEqual(online.history);

    device.network.before = () => 'cut';
    await favorites.remove(removed);
    await favorites.add(added);
    await plays.record(added, secondsAgo(20));
    await plays.record(removed, secondsAgo(10));
    const titles = (list: { sounds: { title: string } | null }[]) => list.map(({ sounds }) => sounds?.title);
    const copied = (await device.again(withoutRepeats)).offline; // the app was started again
    const titleOf = async (id: string) => (await offline.get(id))?.title;
    const [first, second, third] = await Promise.all([titleOf(removed), titleOf(added), titleOf(kept)]);
    expect(titles(await copied.favorites())).toEqual([second, third]);
    expect(titles(await copied.history())).toEqual([first, second, third]);
    expect((await copied.history()).map((entry) => entry.plays)).toEqual([2, 1, 1]);

    device.network.before = () => undefined;
    await favorites.flush();
    await copied.sync();
    expect(await copied.favorites()).toEqual(await Array.fromAsync(favorites.list()));
    expect(await copied.history()).toEqual(await Array.fromAsync(history.list()));
    await history.remove(kept);
    expect(titles(await offline.history())).toEqual([first, second]);
    await history.clear();
    expect(await offline.history()).toEqual([]);
  });

  test('signing out deletes the copies of favorites and history', async ({ device, sql }) => {
    const id = await addSound(sql);
    await device.api.offline.sync();
    await device.api.favorites.add(id);
    await device.api.plays.record(id);
    const copies = () => [...device.store.items.keys()].filter((key) => key.startsWith('sounds.copy.'));
    expect(copies()).toHaveLength(2);
    await device.api.auth.signOut();
    await expect.poll(copies).toEqual([]);
  });
});
