import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSound, addSounds } from '../support/catalogue.ts';
import { type Sql, test } from '../support/test.ts';
import { readPage } from './pages.ts';

/** Adds a category with sounds of these titles. Nobody searches for the words of its slug. */
async function addTitles(sql: Sql, titles: string[]): Promise<string> {
  const category = await addCategory(sql, { slug: `zzz${randomUUID().replace(/[^a-f]/g, '')}` });
  await addSounds(
    sql,
    titles.map((title) => ({ category, title })),
  );
  return category;
}

/** Titles of what is found, in its order. With a category, those of other tests are left out. */
async function find(app: Api, query: object): Promise<string[]> {
  const { data, next_cursor } = await readPage(app, { limit: 100, ...query });
  expect(next_cursor).toBeNull();
  return data.map(({ title }) => title);
}

/** Titles in several scripts, with search terms that find that one alone. */
const termsOf = {
  '432 Hz Bowl': ['432hz', '432 hz', '432 h'],
  'Binaural 10Hz': ['10Hz', '10 hz', '10 HZ binaural'],
  'Café at dawn': ['cafe', 'CAFE\u0301', 'dawn café'],
  'F♯4 Bell': ['f#4', 'F♯4'],
  'Bell in B♭': ['bell bb'],
  'Жуки в траве': ['траве'],
  静かな雨の音: ['雨の'],
  夜晚的雨声: ['雨声'],
  เสียงฝนตก: ['ฝน'],
  'مُوسِيقَى هادئة': ['موسيقى', 'موسيـقى'],
  'أصوات المطر': ['اصوات'],
  שָׁלוֹם: ['שלום'],
  'Ｆｕｌｌ Ｗｉｄｔｈ': ['full width'],
  'Deep-sleep drone': ['deep sleep', 'sleep-deep'],
  'Singing bowls': [
    'SING',
    'bowls singing',
    'ingin',
    'sining bowls',
    'singging bowl',
    'sinjing',
    'bwols singing',
  ],
  Kettle: ['ketle', 'ktetle'],
};

describe('GET /sounds?q=', () => {
  test('finds words in any order and script, parts of words and mistyped ones', async ({ app, sql }) => {
    const category = await addTitles(sql, Object.keys(termsOf));
    for (const [title, terms] of Object.entries(termsOf))
      for (const q of terms) expect([q, await find(app, { category, q })]).toEqual([q, [title]]);
    expect(await find(app, { category, q: '雨' })).toEqual(['夜晚的雨声', '静かな雨の音']);
    for (const q of ['bowls xylophone', 'snigign', 'xylophone'])
      expect([q, await find(app, { category, q })]).toEqual([q, []]);
    for (const [search, title] of [
      ['432hz', '432 Hz Bowl'],
      ['10 hz', 'Binaural 10Hz'],
      ['f#', 'F♯4 Bell'],
      ['موسيقى', 'مُوسِيقَى هادئة'],
      ['雨声', '夜晚的雨声'],
    ] as const)
      expect([search, await find(app, { category, search })]).toEqual([search, [title]]);
  });

  test('ranks beginnings of titles, titles, tags, then descriptions, and combines with filters', async ({
    app,
    sql,
  }) => {
    const category = await addTitles(sql, [
      'Wind',
      'Large singing bowls',
      'Bowl of soup',
      'Ocean',
      'Hidden bowl',
    ]);
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

    // Takes any text literally.
    expect(await found('!!')).toEqual([]);
    expect(await found('  ')).toHaveLength(4);
    for (const q of [
      "'",
      "bowl' & !x:*|",
      '\\',
      '%',
      'bowl:*',
      '(bowl',
      '<->',
      "'; drop table x; --",
      '\u0301',
      '🌊',
    ])
      await found(q);
    expect(await found("singing-bowl's")).toEqual(['Large singing bowls']);
    expect(await found('w'.repeat(100))).toEqual([]);

    // Finds a sound by its present title until it is deleted.
    await change('Ocean', { title: 'Kettle' });
    expect(await found('ocean')).toEqual([]);
    expect(await found('kettle')).toEqual(['Kettle']);
    await sql`delete from public.sounds where category = ${category} and title = 'Kettle'`;
    expect(await found('kettle')).toEqual([]);
  });

  test('finds names of categories, also of a parent', async ({ app, sql }) => {
    const parent = await addTitles(sql, ['Ocean']);
    const child = await addCategory(sql, { parent });
    await addSound(sql, { title: 'Embers', category: child });
    const name = `Quxology${randomUUID().replace(/[^a-f]/g, '')}`;
    await sql`update public.categories set name = ${name} where slug = ${parent}`;
    expect(await find(app, { q: `${name} ocean` })).toEqual(['Ocean']);
    expect(await find(app, { q: `embers ${name.toLowerCase()}` })).toEqual(['Embers']);
  });

  test('does not find under a filter what has no category or duration', async ({ app, sql }) => {
    const title = `Loose${randomUUID().slice(0, 8)}`;
    await addSound(sql, { title });
    expect(await find(app, { q: title })).toEqual([title]);
    expect(await find(app, { q: title, category: await addCategory(sql) })).toEqual([]);
    expect(await find(app, { q: title, min_duration: 1 })).toEqual([]);
  });

  test('gives as many as limit says, the best', async ({ app, sql }) => {
    const category = await addTitles(
      sql,
      Array.from({ length: 105 }, (_, n) => (n === 99 ? 'Rain' : `More rain ${n}`)),
    );
    const found = await find(app, { q: 'rain', category });
    expect([found.length, found[0]]).toEqual([100, 'Rain']);
    expect(await find(app, { q: 'rain', category, limit: 3 })).toHaveLength(3);
  });
});
