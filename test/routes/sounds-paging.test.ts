import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { addCategory, addSounds } from '../support/catalogue.ts';
import { test } from '../support/test.ts';
import { idsOf, type Page, readAllPages, readPage } from './pages.ts';

/** Orders as SQL. */
const orderBy = {
  '': 'sort_order, created_at desc',
  newest: 'created_at desc',
  title: 'search_title, created_at',
  popular: 'coalesce(plays, 0) desc, created_at desc',
};
const orders = Object.keys(orderBy) as (keyof typeof orderBy)[];

/** Changes of a sound between two pages. */
const changes = {
  nothing: '',
  hide: 'update public.sounds set is_active = false',
  delete: 'delete from public.sounds',
  rename: 'update public.sounds set title = gen_random_uuid()',
};

const arbitrarySounds = fc.array(
  fc.record({
    title: fc.constantFrom('Älpler', 'alpler', 'Zen', '\u0301'),
    sort_order: fc.integer({ min: -2, max: 2 }),
    is_active: fc.boolean(),
    // Few moments, some of them within one millisecond: most rows clash.
    created_at: fc.constantFrom(
      '2024-03-01T12:00:00Z',
      '2024-03-01T12:00:00.001Z',
      '2024-03-01T12:00:00.0004Z',
    ),
  }),
  { minLength: 1, maxLength: 30 },
);

describe('paging through GET /sounds', () => {
  test('returns every sound once in any order, whatever happens to those read', async ({ app, sql }) => {
    const property = fc.asyncProperty(
      fc.constantFrom(...orders),
      arbitrarySounds,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(...Object.values(changes)),
      async (order, sounds, limit, change) => {
        const category = await addCategory(sql);
        const rows = sounds.map((sound) => ({ ...sound, category }));
        const ids = await addSounds(sql, rows);
        if (order === 'popular') {
          await sql`
            insert into public.play_counts (sound_id, plays)
            select id, n % 4 from unnest(${ids}::uuid[]) with ordinality as sound (id, n) where n % 3 > 0`;
          await sql`select private.upkeep()`;
        }
        const expected = await sql`
          select id from public.sounds left join public.play_counts on sound_id = id
          where category = ${category} and is_active order by ${sql.unsafe(orderBy[order])}`;
        const sort = order || undefined;
        const read = await readAllPages(
          app,
          { category, limit, sort },
          {
            meanwhile: async ({ data }) => {
              if (change === '') return;
              if (data[0]?.id === expected[0]?.['id'])
                await addSounds(sql, [{ category, title: randomUUID() }]);
              await sql.unsafe(`${change} where id = $1`, [data.at(-1)?.id ?? null]);
            },
          },
        );
        // One that was renamed may appear again in the order of titles, and new ones may appear or not.
        const seen = [...new Set(read.filter((id) => ids.includes(id)))];
        expect(seen).toEqual(expected.map(({ id }) => id));
        if (change === '') expect(read).toEqual(seen);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  test('sort=popular ranks plays after the next upkeep, new sounds last', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [{ category }, { category }, { category, created_at: '1990-01-01' }]);
    const [loud = '', quiet = '', added = ''] = ids;
    const play = (id: string, plays: number) => sql`
      insert into public.play_counts (sound_id, plays) values (${id}, ${plays})
      on conflict (sound_id) do update set plays = excluded.plays`;
    const popular = () => readAllPages(app, { sort: 'popular', category });
    await play(quiet, 1);
    await sql`select private.upkeep()`;
    await play(loud, 500);
    expect(await popular()).toEqual([quiet, loud, added]);
    await sql`select private.upkeep()`;
    expect(await popular()).toEqual([loud, quiet, added]);
  });

  test('rejects the cursor of another order, and takes one with other filters', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, created_at: '2024-01-03T00:00:00Z', is_featured: true },
      { category, created_at: '2024-01-02T00:00:00Z' },
      { category, created_at: '2024-01-01T00:00:00Z', is_featured: true },
    ]);
    const cursors: Record<string, string> = {};
    for (const order of orders) {
      const { next_cursor } = await readPage(app, { category, limit: 1, sort: order || undefined });
      cursors[order] = String(next_cursor);
    }
    expect(cursors['']).toBe('2024-01-03T00:00:00.000Z');
    for (const order of orders)
      for (const other of orders.filter((each) => each !== order))
        await app
          .get('/sounds')
          .query({ cursor: cursors[order], sort: other || undefined })
          .expect(400)
          .expect('X-Error-Field', 'cursor');
    expect(idsOf(await readPage(app, { category, featured: true, cursor: cursors[''] }))).toEqual([ids[2]]);
  });

  test('returns every sound once for cursors without fractions, and ends', async ({ app, sql }) => {
    const cutFraction = (cursor: string) => cursor.replace(/\.\d+Z$/, 'Z');
    const [category, crowded] = [await addCategory(sql), await addCategory(sql)];
    const ids = await addSounds(
      sql,
      Array.from({ length: 9 }, (_, n) => ({
        category,
        created_at: `1998-02-0${n + 1}T00:00:00.${100 * n}Z`,
        sort_order: n % 3,
      })),
    );
    const expected = [6, 3, 0, 7, 4, 1, 8, 5, 2].map((n) => ids[n]);
    const deleteLast = (page: Page) =>
      sql`delete from public.sounds where id = ${idsOf(page).at(-1) ?? null}`;
    for (const meanwhile of [undefined, deleteLast])
      expect(await readAllPages(app, { category, limit: 2 }, { rewrite: cutFraction, meanwhile })).toEqual(
        expected,
      );

    await addSounds(
      sql,
      Array.from({ length: 12 }, (_, n) => ({
        category: crowded,
        created_at: `1998-03-0${1 + (n % 2)}T00:00:00.${500 - 10 * n}Z`,
        sort_order: n % 4,
      })),
    );
    const once = await readAllPages(app, { category: crowded, limit: 2 }, { rewrite: cutFraction });
    expect(new Set(once).size).toBe(once.length);
  });

  test('a cursor is the sound of its moment, or else means "older than"', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const [, ofSameSecond, oldest] = await addSounds(sql, [
      { category, created_at: '1998-04-03T00:00:00Z' },
      { category, created_at: '1998-04-03T00:00:00.500Z', sort_order: 1 },
      { category, created_at: '1998-04-01T00:00:00Z' },
    ]);
    const idsAfter = async (cursor: string) => idsOf(await readPage(app, { category, cursor }));
    expect(await idsAfter('1998-04-03T00:00:00Z')).toEqual([oldest, ofSameSecond]);
    expect(await idsAfter('1998-04-02T05:00:00+05:00')).toEqual([oldest]);
  });
});
