import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSounds } from '../support/catalogue.ts';
import { searches, startSearchedDatabase } from '../support/searches.ts';
import { type Sql, test } from '../support/test.ts';
import { readPage } from './pages.ts';

const word = () => `zzz${randomUUID().replace(/[^a-f]/g, '')}`;

/** Adds a category with sounds of these titles. Searches never match its slug. */
async function addTitles(sql: Sql, titles: string[]): Promise<string> {
  const category = await addCategory(sql, { slug: word() });
  const rows = titles.map((title) => ({ category, title }));
  await addSounds(sql, rows);
  return category;
}

/** Returns the titles of the found sounds in order. */
async function find(app: Api, query: object): Promise<string[]> {
  const { data, next_cursor } = await readPage(app, { limit: 100, ...query });
  expect(next_cursor).toBeNull();
  return data.map(({ title }) => title);
}

/** Titles with texts (separated by |) for which `q` finds only this title. support/searches.ts has more scripts. */
const foundBy = {
  '432 Hz Bowl': '432hz|432 hz|432 h',
  'Binaural 10Hz': '10Hz|10 hz|10 HZ binaural',
  'Café at dawn': 'CAFE\u0301|dawn café',
  'F♯4 Bell': 'f#4|F♯4',
  'Bell in B♭': 'bell bb',
  'مُوسِيقَى هادئة': 'موسيقى|موسيـقى',
  שָׁלוֹם: 'שלום',
  'Ｆｕｌｌ Ｗｉｄｔｈ': 'full width',
  'Deep-sleep drone': 'deep sleep|sleep-deep',
  'Singing bowls': 'SING|bowls singing|ingin|inging bowls|xylophone bowls',
};

test('GET /sounds?q= finds words in any script and order, parts of titles and most words', async ({ app, sql }) => {
  const category = await addTitles(sql, Object.keys(foundBy));
  for (const [title, texts] of Object.entries(foundBy))
    for (const q of texts.split('|')) expect([q, await find(app, { category, q })]).toEqual([q, [title]]);
  for (const q of ['snigign', 'xylophone']) expect([q, await find(app, { category, q })]).toEqual([q, []]);
});

describe('list_sounds with q', () => {
  let database: Awaited<ReturnType<typeof startSearchedDatabase>>;
  beforeAll(async () => {
    database = await startSearchedDatabase();
  });
  afterAll(() => database.end());

  test.for(Object.entries(searches))(
    'finds the best sounds for %s',
    async ([q, { first = [], never = [], ...rest }]) => {
      const { sql } = database;
      const [row] = await sql`select public.list_sounds(${sql.json({ q })}) as page`;
      const titles = row?.['page'].data.map(({ title }: { title: string }) => title);
      expect(titles.slice(0, first.length)).toEqual(first);
      expect(never.includes('*') ? titles : titles.filter((title: string) => never.includes(title))).toEqual([]);
      expect(row?.['page'].corrected_q).toBe(rest.corrected);
    },
  );

  test('orders few sounds in one statement as it fills a page of many step by step', async () => {
    const [row] = await database.sql`
      select bool_and(sorted = private.ranked_by_tier(private.sound_query('{"limit": 100}'), tiers, folded, null))
          as are_equal,
        sum(cardinality(sorted)) as found
      from unnest(${['bowl', 's', 'rain', 'in the', 'sleep', 'wav', '雨']}::text[]) as q
        cross join private.read_search(q) cross join private.search_tiers(found_words) as tiers
        cross join private.rank_sounds(array(
          select id from public.sounds where is_active and search_vector @@ (tiers[cardinality(tiers)]).matching
        ), tiers, folded, 100) as sorted`;
    expect(row?.['are_equal']).toBe(true);
    expect(Number(row?.['found'])).toBeGreaterThan(40);
  });

  test('corrects few edits after the beginning of a word, and no numbers', async () => {
    const { sql } = database;
    const words = 'rain bowl wind birds river thunder forest gong fire heartbeat midnight sleep';
    await sql`insert into public.sounds (title) select unnest(${words.split(' ')}::text[])`;
    await sql`select private.upkeep()`;
    const typed = 'raim bowk wimd brids rvier thunedr forset gomg fier heartbaet midnihgt slepe';
    const others = 'brain roin gon thandres hxartbyat mixnihgt 4321';
    const [row] = await sql`
      select string_agg(private.correction(typed), ' ' order by place) as corrections
      from unnest(${[...typed.split(' '), ...others.split(' ')]}::text[]) with ordinality as given (typed, place)`;
    expect(row?.['corrections']).toBe(words);
  });
});

test('GET /sounds?search= finds parts of titles literally, ignoring case and accents', async ({ app, sql }) => {
  const harp = 'ÄOLIAN Harp 100% pure_tone';
  const others = ['Back\\slash', 'Schöne Straße', 'が', '50％ calm', 'Café at dawn', 'Plain cafe', '432 Hz'];
  const category = await addTitles(sql, [harp, ...others]);
  for (const [search, ...expected] of [
    ['100% pure_', harp],
    ['A\u0308olian', harp],
    ['k\\s', 'Back\\slash'],
    ['SCHÖNE STRASSE', 'Schöne Straße'],
    ['CAFÉ', 'Café at dawn', 'Plain cafe'],
    ['432hz', '432 Hz'],
    ['か'], // a different letter, not an accent
    ['％', '50％ calm', harp], // a literal percent sign, not a wildcard
    ['   ', ...[harp, ...others].toSorted()],
  ] as const) {
    const found = await find(app, { category, search });
    expect([search, ...found.toSorted()]).toEqual([search, ...expected]);
  }
});

test('a tag and a filter by it match in both forms of Unicode', async ({ app, sql }) => {
  const tag = `${word()} é`;
  const category = await addTitles(sql, ['Apart', 'Composed']);
  for (const [title, form] of [
    ['Apart', 'NFD'],
    ['Composed', 'NFC'],
  ] as const)
    await sql`update public.sounds set tags = ${[tag.normalize(form)]} where category = ${category} and title = ${title}`;
  for (const form of ['NFC', 'NFD']) expect(await find(app, { tag: tag.normalize(form) })).toHaveLength(2);
});

test('GET /sounds?sort=title pages through titles of letters that fold to many', async ({ app, sql }) => {
  const titles = ['a', 'b', 'c'].map((end) => '\uFDFA'.repeat(199) + end);
  const category = await addTitles(sql, titles);
  const query = { category, sort: 'title', limit: 2 };
  const first = await readPage(app, query);
  const second = await readPage(app, { ...query, cursor: first.next_cursor });
  expect([first.data.length, second.data.length, second.next_cursor]).toEqual([2, 1, null]);
});

describe('GET /sounds?q=', () => {
  test('ranks starts of titles first, then titles, tags and descriptions', async ({ app, sql }) => {
    const titles = ['Wind', 'Large singing bowls', 'Bowl of soup', 'Ocean', 'Hidden bowl'];
    const category = await addTitles(sql, titles);
    const change = (title: string, row: object) =>
      sql`update public.sounds set ${sql(row)} where category = ${category} and title = ${title}`;
    await change('Wind', { description: 'A bowl rings in the distance.' });
    await change('Hidden bowl', { is_active: false });
    await change('Ocean', { is_featured: true, tags: ['calm', 'deep sleep'] });
    const found = (q: string, filters: object = {}) => find(app, { category, q, ...filters });
    expect(await found('bowl')).toEqual(['Bowl of soup', 'Large singing bowls', 'Wind']);
    expect(await found('calm')).toEqual(['Ocean']);
    expect(await found('o', { featured: true })).toEqual(['Ocean']);
    expect(await found('o', { featured: true, tag: 'rain' })).toEqual([]);

    // Any text is searched literally.
    expect(await found('  ')).toHaveLength(4);
    expect(await found("large'singing-bowl")).toEqual(['Large singing bowls']);
    for (const q of ['!!', "bowl' & !x:*|", '\\', '%', '(bowl', '<->', '\u0301', '🌊', 'w'.repeat(100)]) await found(q);

    // A sound is found by its current title until it is deleted.
    await change('Ocean', { title: 'Kettle' });
    expect([await found('ocean'), await found('kettle')]).toEqual([[], ['Kettle']]);
    await sql`delete from public.sounds where category = ${category} and title = 'Kettle'`;
    expect(await found('kettle')).toEqual([]);
  });

  test('does not find sounds by the name of a hidden category', async ({ app, sql }) => {
    const category = await addTitles(sql, ['Ocean']);
    const child = await addCategory(sql, { parent: category });
    const [name, childName] = [word(), word()];
    await addSounds(sql, [{ title: 'Embers', category: child }]);
    await sql`update public.categories set name = ${name} where slug = ${category}`;
    await sql`update public.categories set name = ${childName} where slug = ${child}`;
    expect([await find(app, { q: name }), await find(app, { q: childName })]).toEqual([
      ['Embers', 'Ocean'],
      ['Embers'],
    ]);
    await sql`update public.categories set is_active = false where slug = ${category}`;
    expect([await find(app, { q: name }), await find(app, { q: childName })]).toEqual([[], []]);
  });

  test('finds sounds by names of categories and their parents, and applies filters', async ({ app, sql }) => {
    const parent = await addTitles(sql, ['Ocean']);
    const child = await addCategory(sql, { parent });
    const [name, title] = [word(), word()];
    await addSounds(sql, [{ title: 'Embers', category: child }, { title }]);
    await sql`update public.categories set name = ${name.toUpperCase()} where slug = ${parent}`;
    for (const [query, ...expected] of [
      [{ q: `${name} ocean` }, 'Ocean'],
      [{ q: `embers ${name}` }, 'Embers'],
      [{ q: title }, title],
      [{ q: title, category: child }],
      [{ q: title, min_duration: 1 }],
    ] as const)
      expect(await find(app, query)).toEqual(expected);
  });

  test('applies every filter as a list without q does', async ({ app, sql }) => {
    const parent = await addTitles(sql, ['Rain far off']);
    const category = await addCategory(sql, { parent });
    await addSounds(sql, [
      { title: 'Rain', category, tags: ['wet'], duration_sec: 10 },
      { title: 'More rain', category, is_featured: true, duration_sec: 50 },
    ]);
    const family = { category: parent, include_children: true };
    const filters = { featured: true, search: 'more', tag: 'wet', min_duration: 20, max_duration: 20 };
    const single = Object.entries(filters).map(([name, value]) => ({ ...family, [name]: value }));
    for (const query of [{ category }, family, ...single]) {
      const expected = (await find(app, query)).toSorted();
      expect(expected.length).toBeGreaterThan(0);
      expect([query, (await find(app, { ...query, q: 'rain' })).toSorted()]).toEqual([query, expected]);
    }
    const others = ['q', 'ids', 'sort', 'limit', 'cursor'];
    const known = await sql`
      select attname from pg_attribute where attrelid = 'private.sound_query'::regclass and attname <> all (${others})`;
    const tested = Object.keys({ ...family, ...filters });
    expect(known.map(({ attname }) => attname).toSorted()).toEqual(tested.toSorted());
  });

  test('returns the best sounds, up to limit', async ({ app, sql }) => {
    const titles = Array.from({ length: 105 }, (_, n) => (n === 99 ? 'Rain' : `More rain ${n}`));
    const category = await addTitles(sql, titles);
    const found = await find(app, { q: 'rain', category });
    expect([found.length, found[0]]).toEqual([100, 'Rain']);
    expect(await find(app, { q: 'rain', category, limit: 3 })).toHaveLength(3);
  });
});
