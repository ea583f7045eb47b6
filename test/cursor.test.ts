import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds } from './support/catalogue.ts';
import { type Api, type Session, type Sql, test } from './support/test.ts';

type Page = { data: { id: string; created_at: string }[]; next_cursor: string | null };

/** How clients of other types hand a cursor back: same moment, other text. */
const rewritings: Record<string, (cursor: string) => string> = {
  'as it came': (cursor) => cursor,
  'with microseconds': (cursor) => cursor.replace('Z', '000Z'),
  'with nanoseconds and a small error': (cursor) =>
    cursor.replace(/\.(\d{3})Z$/, (_, ms: string) => `.${ms}000417Z`),
  'with an offset': (cursor) =>
    new Date(Date.parse(cursor) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30'),
  'without zeros at the end': (cursor) => cursor.replace(/\.?0+Z$/, 'Z'),
  'in lower case': (cursor) => cursor.toLowerCase(),
};

/** All ids in the order in which the pages bring them; between pages, `meanwhile` may do as it likes. */
async function walk(
  api: Api,
  user: Session,
  query: string,
  { limit = 10, rewrite = (cursor: string) => cursor, meanwhile = async (_page: Page) => {} } = {},
) {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(rewrite(cursor))}`;
    const { status, body } = await api.get<Page>(`/sounds?${query}&limit=${limit}${after}`, {
      token: user.access_token,
    });
    expect(status).toBe(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    if (body.next_cursor !== null) expect(body.next_cursor).toBe(body.data.at(-1)?.created_at);
    ids.push(...body.data.map(({ id }) => id));
    cursor = body.next_cursor;
    await meanwhile(body);
  } while (cursor !== null);
  return ids;
}

async function activeInOrder(sql: Sql, category: string): Promise<string[]> {
  const rows = await sql`
    select id from public.sounds where category = ${category} and is_active order by sort_order, created_at desc`;
  return rows.map((row) => row['id']);
}

describe('walking through GET /sounds', () => {
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

  test('brings every active sound exactly once, in order, whatever the page size and however the client writes cursors', async ({
    api,
    sql,
    user,
  }) => {
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
          const ids = await walk(api, user, `category=${category}`, {
            limit,
            rewrite: rewritings[rewriting],
          });
          expect(ids).toEqual(await activeInOrder(sql, category));
        },
      ),
      { numRuns: 40 },
    );
  });

  test('goes on from its place when the sound it stopped at is deactivated or deleted meanwhile', async ({
    api,
    sql,
    user,
  }) => {
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
          const ids = await walk(api, user, `category=${category}`, {
            limit,
            meanwhile: async ({ data }) => {
              const anchor = data.at(-1)?.id ?? null;
              if (change === 'delete') await sql`delete from public.sounds where id = ${anchor}`;
              else await sql`update public.sounds set is_active = false where id = ${anchor}`;
            },
          });
          expect(ids).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('holds for the whole catalogue and for every filter', async ({ api, sql, user }) => {
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
    for (const [query, expected] of [
      ['', ids],
      [`category=${parent}&include_children=true`, ids],
      [`search=${parent}`, ids],
      [`search=${parent}&featured=true`, ids.filter((_, index) => index % 3 === 0)],
      [`category=${child}&featured=false`, ids.filter((_, index) => index % 2 === 0 && index % 3 !== 0)],
    ] as const) {
      const seen = (await walk(api, user, query, { limit: query === '' ? 100 : 7 })).filter((id) =>
        mine.has(id),
      );
      expect(seen.toSorted()).toEqual(expected.toSorted());
    }
  });

  test('a cursor may change its filters: it is a position in one order', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, created_at: '2024-01-03T00:00:00Z', is_featured: true },
      { category, created_at: '2024-01-02T00:00:00Z' },
      { category, created_at: '2024-01-01T00:00:00Z', is_featured: true },
    ]);
    const first = await api.get<Page>(`/sounds?category=${category}&limit=1`, { token: user.access_token });
    const cursor = encodeURIComponent(first.body.next_cursor ?? '');
    const rest = await api.get<Page>(`/sounds?category=${category}&featured=true&cursor=${cursor}`, {
      token: user.access_token,
    });
    expect(rest.body.data.map(({ id }) => id)).toEqual([ids[2]]);
  });

  test('a cursor that names no sound means "older than"', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [, older] = await addSounds(sql, [
      { category, created_at: '1999-01-03T00:00:00Z' },
      { category, created_at: '1999-01-01T00:00:00Z' },
    ]);
    for (const cursor of ['1999-01-02T00:00:00Z', '1999-01-02T00:00:00+00:00', '1999-01-02T05:00:00 05:00']) {
      const { body } = await api.get<Page>(`/sounds?category=${category}&cursor=${cursor}`, {
        token: user.access_token,
      });
      expect(body.data.map(({ id }) => id)).toEqual([older]);
    }
  });
});

describe('created_at of a sound', () => {
  test('stays unique and adjacent when thousands are imported with one moment, in about a second', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const started = performance.now();
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Import ' || n, ${category}, '2001-02-03T04:05:06Z' from generate_series(1, 5000) as n`;
    expect(performance.now() - started).toBeLessThan(5000);
    const [span] = await sql`
      select count(distinct created_at) as moments, max(created_at) - min(created_at) as span
      from public.sounds where category = ${category}`;
    expect(span).toEqual({ moments: '5000', span: '00:00:04.999' });
  });

  test('does not collide when several connections import at once', async ({ sql }) => {
    const category = await addCategory(sql);
    await Promise.all(
      Array.from(
        { length: 8 },
        () => sql`
          insert into public.sounds (title, category, created_at)
          select 'Import', ${category}, '2002-02-03T04:05:06Z' from generate_series(1, 200)`,
      ),
    );
    expect(await sql`select count(*) as count from public.sounds where category = ${category}`).toEqual([
      { count: '1600' },
    ]);
  });

  test('of a deleted sound is not given to another', async ({ sql }) => {
    const created_at = '2003-02-03T04:05:06Z';
    const gone = await addSound(sql, { created_at });
    await sql`delete from public.sounds where id = ${gone}`;
    const next = await addSound(sql, { created_at });
    const [row] = await sql`select created_at from public.sounds where id = ${next}`;
    expect(row?.['created_at'].toISOString()).toBe('2003-02-03T04:05:06.001Z');
  });

  test('moved by an admin onto a taken moment lands next to it', async ({ sql }) => {
    const [, moved] = await addSounds(sql, [
      { created_at: '2004-02-03T04:05:06Z' },
      { created_at: '2004-02-03T04:05:07Z' },
    ]);
    await sql`update public.sounds set created_at = '2004-02-03T04:05:06Z' where id = ${moved ?? null}`;
    const [row] = await sql`select created_at from public.sounds where id = ${moved ?? null}`;
    expect(row?.['created_at'].toISOString()).toBe('2004-02-03T04:05:06.001Z');
  });
});
