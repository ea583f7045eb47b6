import { describe, expect } from 'vitest';
import { canRunBrowser, inBrowser } from '../../../test/support/browser.ts';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { newEmail, password, test } from '../../../test/support/test.ts';
import { errorAnswer, faultsOf, phoneStore, startDevice, withoutRepeats } from './device.ts';
import { serveClient } from './serve-client.ts';

const idsOf = (sounds: { id: string }[]) => sounds.map(({ id }) => id);

describe('the copy of the catalogue', () => {
  test('lists, searches and shows categories and sections without a network, as the service does with one', async ({
    gateway,
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
    const device = await startDevice(gateway.url, withoutRepeats);
    await device.signUp();
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

  test('follows what changed, and asks for nothing else; after a restart, too', async ({ gateway, sql }) => {
    const [kept, hidden] = (await addSounds(sql, [{}, {}])) as [string, string];
    const device = await startDevice(gateway.url);
    await device.signUp();
    await device.api.offline.sync();
    await sql`update public.sounds set title = 'Another title' where id = ${kept}`;
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    const restarted = await device.again();
    await restarted.offline.sync();
    expect(await restarted.offline.get(kept)).toMatchObject({ title: 'Another title' });
    expect(await restarted.offline.get(hidden)).toBeNull();
  });

  test('begins anew where the service says so', async ({ gateway, sql }) => {
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
    const device = await startDevice(gateway.url, { store });
    await device.signUp();
    await device.api.offline.sync();
    expect(await device.api.offline.get('gone')).toBeNull();
    expect(await device.api.offline.get(id)).not.toBeNull();
  });

  test('stays as it was when a sync fails, and is one at a time', async ({ gateway, sql }) => {
    const device = await startDevice(gateway.url, withoutRepeats);
    await device.signUp();
    const { offline } = device.api;
    await Promise.all([offline.sync(), offline.sync()]);
    const asked = device.sent.length;
    const before = await offline.syncedAt();
    const id = await addSound(sql);
    device.network.before = faultsOf(
      'GET /catalogue/changes',
      ...Array(9).fill(errorAnswer(500, 'server_error')),
    );
    await expect(offline.sync()).rejects.toMatchObject({ code: 'server_error' });
    expect([await offline.get(id), await offline.syncedAt()]).toEqual([null, before]);
    expect(new Set(device.sent.slice(0, asked)).size).toBe(1);
  });

  test('lies in IndexedDB in browsers', async ({ skip, sql }) => {
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
