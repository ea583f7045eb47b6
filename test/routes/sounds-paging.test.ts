import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSounds, deleteForGood } from '../support/catalogue.ts';
import { test } from '../support/test.ts';
import { idsOf, type Page, readPage } from './pages.ts';

/** Reads all pages of GET /sounds, and runs a change after each page. Returns the ids in order. */
async function readAllPages(
  app: Api,
  query: { limit: number; [filter: string]: unknown },
  meanwhile: (page: Page) => PromiseLike<unknown> = async () => {},
  rewrite = (cursor: string) => cursor,
) {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(app, { ...query, cursor });
    expect(page.data.length).toBeLessThanOrEqual(query.limit);
    ids.push(...idsOf(page));
    cursor = page.next_cursor === null ? undefined : rewrite(page.next_cursor);
    await meanwhile(page);
  } while (cursor !== undefined);
  return ids;
}

/** SQL of each order. */
const orderBy = {
  '': 'sort_order, created_at desc',
  newest: 'created_at desc',
  title: 'search_title, created_at',
  popular: 'coalesce(plays, 0) desc, created_at desc',
};
const orders = Object.keys(orderBy) as (keyof typeof orderBy)[];

const deletion = 'delete from public.sounds';
/** Changes that can happen to a sound between two pages. */
const changes = [
  '',
  'update public.sounds set is_active = false',
  deletion,
  'update public.sounds set title = gen_random_uuid()',
];

const arbitrarySounds = fc.array(
  fc.record({
    title: fc.constantFrom('Älpler', 'alpler', 'Zen', '\u0301'),
    sort_order: fc.integer({ min: -2, max: 2 }),
    is_active: fc.boolean(),
    // Use three times, two of them within one millisecond, so that most rows have equal times.
    created_at: fc.constantFrom(...['', '.001', '.0004'].map((part) => `2024-03-01T12:00:00${part}Z`)),
  }),
  { minLength: 1, maxLength: 30 },
);

describe('paging through GET /sounds', () => {
  test('returns every sound once in any order, also if sounds that were read change', async ({ app, sql }) => {
    const property = fc.asyncProperty(
      fc.constantFrom(...orders),
      arbitrarySounds,
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(...changes),
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
        const meanwhile = async ({ data }: Page) => {
          if (change === '') return;
          if (data[0]?.id === expected[0]?.['id']) await addSounds(sql, [{ category, title: randomUUID() }]);
          const id = data.at(-1)?.id ?? null;
          await sql.unsafe(`${change} where id = $1`, [id]);
          if (change === deletion) await deleteForGood(sql, [id]);
        };
        const read = await readAllPages(app, { category, limit, sort: order || undefined }, meanwhile);
        // A renamed sound may appear twice in the order of titles, and new sounds may or may not appear.
        const seen = [...new Set(read.filter((id) => ids.includes(id)))];
        expect(seen).toEqual(expected.map(({ id }) => id));
        if (change === '') expect(read).toEqual(seen);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  test('sort=popular ranks by plays after the next upkeep, with new sounds last', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [{ category }, { category }, { category, created_at: '1990-01-01' }]);
    const [loud = '', quiet = '', added = ''] = ids;
    const query = { sort: 'popular', category };
    await sql`insert into public.play_counts (sound_id, plays) values (${quiet}, 1)`;
    await sql`select private.upkeep()`;
    await sql.begin(async (transaction) => {
      // Use a transaction, so that the upkeep of another test does not see these plays.
      await transaction`insert into public.play_counts (sound_id, plays) values (${loud}, 500)`;
      const [row] = await transaction`select public.list_sounds(${JSON.stringify(query)}::jsonb) as page`;
      expect(idsOf(row?.['page'])).toEqual([quiet, loud, added]);
    });
    await sql`select private.upkeep()`;
    expect(idsOf(await readPage(app, query))).toEqual([loud, quiet, added]);
  });

  test('cursors without fractions return every sound once that has its second alone', async ({ app, sql }) => {
    const cutFraction = (cursor: string) => cursor.replace(/\.\d+Z$/, 'Z');
    const [category, crowded] = [await addCategory(sql), await addCategory(sql)];
    const soundAt = (category: string, day: number, fractionMs: number, sort_order: number) => {
      const created_at = new Date(Date.UTC(1998, 1, day) + fractionMs).toISOString();
      return { category, created_at, sort_order };
    };
    const nine = Array.from({ length: 9 }, (_, n) => soundAt(category, n, 100 * n, n % 3));
    const ids = await addSounds(sql, nine);
    const expected = [6, 3, 0, 7, 4, 1, 8, 5, 2].map((n) => ids[n]);
    const deleteLast = (page: Page) => deleteForGood(sql, [idsOf(page).at(-1) ?? null]);
    for (const meanwhile of [undefined, deleteLast])
      expect(await readAllPages(app, { category, limit: 2 }, meanwhile, cutFraction)).toEqual(expected);

    const ofTwoSeconds = Array.from({ length: 12 }, (_, n) => soundAt(crowded, 20 + (n % 2), 500 - 10 * n, n % 4));
    await addSounds(sql, ofTwoSeconds);
    const once = await readAllPages(app, { category: crowded, limit: 2 }, undefined, cutFraction);
    expect(new Set(once).size).toBe(once.length);
  });

  test('a cursor is the position of the sound with its time, otherwise it means "older than"', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const [, ofSameSecond, oldest] = await addSounds(sql, [
      { category, created_at: '1998-04-03T00:00:00Z' },
      { category, created_at: '1998-04-03T00:00:00.500Z', sort_order: 1 },
      { category, created_at: '1998-04-01T00:00:00Z', is_featured: true },
    ]);
    const idsAfter = async (cursor: string, filter = {}) => idsOf(await readPage(app, { category, cursor, ...filter }));
    expect(await idsAfter('1998-04-03T00:00:00Z')).toEqual([oldest, ofSameSecond]);
    expect(await idsAfter('1998-04-03T00:00:00Z', { featured: true })).toEqual([oldest]);
    expect(await idsAfter('1998-04-02T05:00:00+05:00')).toEqual([oldest]);
  });
});
