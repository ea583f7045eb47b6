import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSounds } from '../support/catalogue.ts';
import { type Session, type Sql, test } from '../support/test.ts';

type Item = { id: string; title: string; created_at: string };

async function page(
  api: Api,
  user: Session,
  query: object,
): Promise<{ data: Item[]; next_cursor: string | null }> {
  return (await api.get('/sounds').query(query).auth(user.access_token, bearer).expect(200)).body;
}

/** Reads all pages; @returns the ids @param meanwhile what happens after each page */
async function walk(
  api: Api,
  user: Session,
  query: object,
  meanwhile: (read: string[]) => Promise<unknown> = async () => {},
) {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const { data, next_cursor } = await page(api, user, { ...query, ...(cursor !== null && { cursor }) });
    ids.push(...data.map(({ id }) => id));
    cursor = next_cursor;
    await meanwhile(ids);
  } while (cursor !== null);
  return ids;
}

/** Sounds with plays, titles and moments in which everything occurs twice. */
async function addVaried(sql: Sql, count: number) {
  const category = await addCategory(sql);
  const ids = await addSounds(
    sql,
    Array.from({ length: count }, (_, n) => ({
      category,
      title: `${['Älpler', 'alpler', 'Zen', 'Öl', 'bowl'][n % 5]} ${n % 7}`,
      sort_order: n % 3,
    })),
  );
  for (const [n, id] of ids.entries())
    if (n % 3 > 0) await sql`insert into public.play_counts (sound_id, plays) values (${id}, ${n % 4})`;
  await runUpkeep(sql);
  return { category, ids };
}

/** Expected orders as SQL. */
const orderBy = {
  newest: 'sound.created_at desc',
  title: 'sound.search_title, sound.created_at',
  popular: 'coalesce(plays, 0) desc, sound.created_at desc',
};

const runUpkeep = (sql: Sql) => sql`select private.upkeep()`;

async function inOrder(sql: Sql, sort: keyof typeof orderBy, category: string): Promise<string[]> {
  const rows = await sql`
    select id from public.sounds as sound left join public.play_counts on sound_id = id
    where category = ${category} and is_active order by ${sql.unsafe(orderBy[sort])}`;
  return rows.map((row) => row['id']);
}

describe.each(['newest', 'title', 'popular'] as const)('GET /sounds?sort=%s', (sort) => {
  test('gives every sound once, in that order, for any page size', async ({ api, sql, user }) => {
    const { category } = await addVaried(sql, 23);
    const expected = await inOrder(sql, sort, category);
    expect(expected).toHaveLength(23);
    for (const limit of [1, 7, 22, 23, 24])
      expect(await walk(api, user, { sort, category, limit }), `pages of ${limit}`).toEqual(expected);
  });

  test('neither skips nor repeats a sound while others change', async ({ api, sql, user }) => {
    const { category, ids } = await addVaried(sql, 40);
    const touched = new Set<string>();
    const read = await walk(api, user, { sort, category, limit: 4 }, async (read) => {
      // The cursor was made from the row that was just read.
      for (const id of [read.at(-1), ids[randomInt(ids.length)]] as string[]) {
        touched.add(id);
        const what = randomInt(4);
        if (what === 0) await sql`delete from public.sounds where id = ${id}`;
        else if (what === 1) await sql`update public.sounds set title = ${randomUUID()} where id = ${id}`;
        else if (what === 2) await sql`update public.sounds set is_active = false where id = ${id}`;
        else await sql`update public.sounds set created_at = created_at - interval '1 day' where id = ${id}`;
      }
      await addSounds(sql, [{ category, title: randomUUID() }]);
    });
    const untouched = ids.filter((id) => !touched.has(id));
    expect(read.filter((id) => untouched.includes(id)).toSorted()).toEqual(untouched.toSorted());
  });

  test('combines with filters, and refuses the cursor of another order', async ({ api, sql, user }) => {
    const { category } = await addVaried(sql, 12);
    const found = await page(api, user, { sort, category, search: 'alpler', limit: 2 });
    expect(found.data.map(({ title }) => title)).toEqual([
      expect.stringMatching(/lpler/),
      expect.stringMatching(/lpler/),
    ]);
    const cursor = String(found.next_cursor);
    for (const query of [
      { cursor },
      { cursor, sort: sort === 'title' ? 'newest' : 'title' },
      { sort, cursor: new Date().toISOString() },
    ])
      await api
        .get('/sounds')
        .query(query)
        .auth(user.access_token, bearer)
        .expect(400)
        .expect('X-Error-Field', 'cursor');
  });
});

test('titles that are nothing but accents have their place in sort=title', async ({ api, sql, user }) => {
  const category = await addCategory(sql);
  const ids = await addSounds(
    sql,
    ['\u0301', '\u0303', 'Bowl'].map((title) => ({ category, title })),
  );
  expect(await walk(api, user, { sort: 'title', category, limit: 1 })).toEqual(ids);
});

test('sort=popular ranks plays after the next upkeep, new sounds last', async ({ api, sql, user }) => {
  const { category, ids } = await addVaried(sql, 5);
  const [quiet, loud] = ids as [string, string];
  await sql`
    insert into public.play_counts (sound_id, plays) values (${loud}, 500) on conflict (sound_id) do update set plays = excluded.plays`;
  const [added] = await addSounds(sql, [{ category, created_at: '1990-01-01' }]);
  const before = await walk(api, user, { sort: 'popular', category });
  expect(before).toHaveLength(6);
  expect(before.at(-1)).toBe(added);
  await runUpkeep(sql);
  const after = await walk(api, user, { sort: 'popular', category });
  expect(after[0]).toBe(loud);
  expect(after).toContain(quiet);
});

describe('filters', () => {
  test('tag finds sounds that have all of the tags', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [both, one] = (await addSounds(sql, [{ category }, { category }, { category }])) as [
      string,
      string,
    ];
    await sql`update public.sounds set tags = '{deep sleep,rain}' where id = ${both}`;
    await sql`update public.sounds set tags = '{rain}' where id = ${one}`;
    const find = async (tag: string | string[]) => (await walk(api, user, { category, tag })).toSorted();
    expect(await find('rain')).toEqual([both, one].toSorted());
    expect(await find(['rain', 'deep sleep'])).toEqual([both]);
    expect(await find('Rain')).toEqual([]);
  });

  test('min_duration and max_duration include their own value', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(
      sql,
      [10, 20.5, 30, null].map((duration_sec) => ({ category, duration_sec })),
    );
    const find = async (query: object) =>
      (await walk(api, user, { category, ...query })).map((id) => ids.indexOf(id)).toSorted();
    expect(await find({ min_duration: 20.5 })).toEqual([1, 2]);
    expect(await find({ max_duration: 20.5 })).toEqual([0, 1]);
    expect(await find({ min_duration: 11, max_duration: 29 })).toEqual([1]);
    expect(await find({ min_duration: 0 })).toEqual([0, 1, 2]);
  });
});
