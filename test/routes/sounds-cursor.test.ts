import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory, addSounds } from '../support/catalogue.ts';
import { activeInOrder, type Page, readAllPages } from '../support/read-all-pages.ts';
import { test } from '../support/test.ts';

/** Spellings of a cursor by clients with other date types: the same moment, written differently. */
const rewritings: Record<string, (cursor: string) => string> = {
  unchanged: (cursor) => cursor,
  'with microseconds': (cursor) => cursor.replace('Z', '000Z'),
  'with nanoseconds and a rounding error': (cursor) =>
    cursor.replace(/\.(\d{3})Z$/, (_, ms: string) => `.${ms}000417Z`),
  'with an offset': (cursor) =>
    new Date(Date.parse(cursor) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  'without trailing zeros': (cursor) => cursor.replace(/\.?0+Z$/, 'Z'),
  'in lower case': (cursor) => cursor.toLowerCase(),
  'with microseconds and an offset without a colon': (cursor) => cursor.replace('Z', '000+0000'),
  'with an offset of hours': (cursor) => cursor.replace('Z', '+00'),
  'with a comma': (cursor) => cursor.replace('.', ','),
  'with a space, as Python writes it': (cursor) => cursor.replace('T', ' ').replace('Z', '+00:00'),
  'with a plus that was decoded as a space': (cursor) => cursor.replace('Z', ' 0000'),
  'without seconds where they are 0': (cursor) => cursor.replace(/:00\.000Z$/, 'Z'),
  'without an offset': (cursor) => cursor.replace('Z', ''),
};

describe('paging through GET /sounds', () => {
  const arbitrarySounds = fc.array(
    fc.record({
      sort_order: fc.integer({ min: -2, max: 2 }),
      is_active: fc.boolean(),
      // Few moments, some of them within one millisecond: most rows clash.
      created_at: fc.constantFrom(
        '2024-03-01T12:00:00Z',
        '2024-03-01T12:00:00.001Z',
        '2024-03-01T12:00:00.0004Z',
      ),
    }),
    { minLength: 1, maxLength: 40 },
  );

  test('returns every sound once for any page size and spelling of cursors', async ({ api, sql, user }) => {
    await fc.assert(
      fc.asyncProperty(
        arbitrarySounds,
        fc.integer({ min: 1, max: 15 }),
        fc.constantFrom(...Object.keys(rewritings)),
        async (sounds, limit, rewriting) => {
          const category = await addCategory(sql);
          await addSounds(
            sql,
            sounds.map((sound) => ({ ...sound, category })),
          );
          const ids = await readAllPages(
            api,
            user,
            { category },
            {
              limit,
              rewrite: rewritings[rewriting],
            },
          );
          expect(ids).toEqual(await activeInOrder(sql, category));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('continues behind a sound that was deactivated or deleted', async ({ api, sql, user }) => {
    await fc.assert(
      fc.asyncProperty(
        arbitrarySounds,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom('deactivate', 'delete'),
        async (sounds, limit, change) => {
          const category = await addCategory(sql);
          await addSounds(
            sql,
            sounds.map((sound) => ({ ...sound, category })),
          );
          const expected = await activeInOrder(sql, category);
          const ids = await readAllPages(
            api,
            user,
            { category },
            {
              limit,
              meanwhile: async ({ data }) => {
                const anchor = data.at(-1)?.id ?? null;
                if (change === 'delete') await sql`delete from public.sounds where id = ${anchor}`;
                else await sql`update public.sounds set is_active = false where id = ${anchor}`;
              },
            },
          );
          expect(ids).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('returns every sound once, without filters and with each of them', async ({ api, sql, user }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const ids = await addSounds(
      sql,
      Array.from({ length: 60 }, (_, index) => ({
        title: `Walk ${parent} ${index}`,
        category: index % 2 ? parent : child,
        is_featured: index % 3 === 0,
        sort_order: index % 4,
      })),
    );
    const mine = new Set(ids);
    for (const [filters, expected] of [
      [{}, ids],
      [{ category: parent, include_children: true }, ids],
      [{ search: parent }, ids],
      [{ search: parent, featured: true }, ids.filter((_, index) => index % 3 === 0)],
      [{ category: child, featured: false }, ids.filter((_, index) => index % 2 === 0 && index % 3 !== 0)],
    ] as const) {
      const isFiltered = Object.keys(filters).length > 0;
      const seen = await readAllPages(api, user, filters, { limit: isFiltered ? 7 : 100 });
      expect(seen.filter((id) => mine.has(id)).toSorted()).toEqual(expected.toSorted());
    }
  });

  test('a cursor may be used with other filters', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, created_at: '2024-01-03T00:00:00Z', is_featured: true },
      { category, created_at: '2024-01-02T00:00:00Z' },
      { category, created_at: '2024-01-01T00:00:00Z', is_featured: true },
    ]);
    const first = await api.get('/sounds').query({ category, limit: 1 }).auth(user.access_token, bearer);
    const rest: { body: Page } = await api
      .get('/sounds')
      .query({ category, featured: true, cursor: first.body.next_cursor })
      .auth(user.access_token, bearer);
    expect(rest.body.data.map(({ id }) => id)).toEqual([ids[2]]);
  });

  const cutFraction = (cursor: string) => cursor.replace(/\.\d+Z$/, 'Z');

  test('returns every sound once without fractions, one sound a second', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(
      sql,
      Array.from({ length: 9 }, (_, index) => ({
        category,
        created_at: `1998-02-0${index + 1}T00:00:00.${100 * index}Z`,
        sort_order: index % 3,
      })),
    );
    const expected = await activeInOrder(sql, category);
    const options = { limit: 2, rewrite: cutFraction };
    expect(await readAllPages(api, user, { category }, options)).toEqual(expected);

    const seen = await readAllPages(
      api,
      user,
      { category },
      {
        ...options,
        meanwhile: async ({ data }) => {
          await sql`delete from public.sounds where id = ${data.at(-1)?.id ?? null}`;
        },
      },
    );
    expect(seen).toEqual(expected);
  });

  test('ends for cursors without fractions when sounds share a second', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(
      sql,
      Array.from({ length: 12 }, (_, index) => ({
        category,
        created_at: `1998-03-0${1 + (index % 2)}T00:00:00.${500 - 10 * index}Z`,
        sort_order: index % 4,
      })),
    );
    const ids = await readAllPages(api, user, { category }, { limit: 2, rewrite: cutFraction });
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('a cursor of a whole second prefers the sound at that very moment', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [, before] = await addSounds(sql, [
      { category, created_at: '1998-04-01T00:00:00Z' },
      { category, created_at: '1998-04-01T00:00:00.500Z', sort_order: 1 },
    ]);
    const rest: { body: Page } = await api
      .get('/sounds')
      .query({ category, cursor: '1998-04-01T00:00:00Z' })
      .auth(user.access_token, bearer);
    expect(rest.body.data.map(({ id }) => id)).toEqual([before]);
  });

  test('a cursor at whose moment there is no sound means "older than"', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [, older] = await addSounds(sql, [
      { category, created_at: '1999-01-03T00:00:00Z' },
      { category, created_at: '1999-01-01T00:00:00Z' },
    ]);
    for (const cursor of ['1999-01-02T00:00:00Z', '1999-01-02T00:00:00+00:00', '1999-01-02T05:00:00 05:00']) {
      const { body }: { body: Page } = await api
        .get('/sounds')
        .query(`category=${category}&cursor=${cursor}`)
        .auth(user.access_token, bearer);
      expect(body.data.map(({ id }) => id)).toEqual([older]);
    }
  });
});
