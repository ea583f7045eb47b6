import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound, addSounds } from '../support/catalogue.ts';
import { type Session, type Sql, test } from '../support/test.ts';

/** A slug whose words nobody searches for. */
const wordlessSlug = () => `zzz${randomUUID().replace(/[^a-f]/g, '')}`;

/** Titles of what is found, in its order, among the sounds of one category, so that those of other tests are left out. */
async function find(api: Api, user: Session, q: string, filters: object = {}): Promise<string[]> {
  const { body } = await api
    .get('/sounds')
    .query({ q, limit: 100, ...filters })
    .auth(user.access_token, bearer)
    .expect(200);
  expect(body.next_cursor).toBeNull();
  return body.data.map(({ title }: { title: string }) => title);
}

async function addCatalogue(sql: Sql) {
  const category = await addCategory(sql);
  await addSounds(
    sql,
    [
      { title: 'Wind over a hut', description: 'A bowl rings in the distance.' },
      { title: 'Large singing bowls' },
      { title: 'Bowl of soup' },
      { title: 'Café at dawn' },
      { title: 'Ocean', is_featured: true },
      { title: 'Жуки в траве' },
      { title: 'Hidden bowl', is_active: false },
    ].map((row) => ({ ...row, category })),
  );
  await sql`update public.sounds set tags = '{calm,deep sleep}' where category = ${category} and title = 'Ocean'`;
  return { category };
}

describe('GET /sounds?q=', () => {
  // Search terms and their results, in a catalogue of several scripts.
  const titles = [
    '432 Hz Bowl',
    'Binaural 10Hz',
    'Café at dawn',
    'F♯4 Bell',
    'Bell in B♭',
    'Жуки в траве',
    '静かな雨の音',
    '夜晚的雨声',
    'เสียงฝนตก',
    'مُوسِيقَى هادئة',
    'أصوات المطر',
    'שָׁלוֹם',
    'Ｆｕｌｌ Ｗｉｄｔｈ',
    'Deep-sleep drone',
    'Singing bowls',
    'Kettle',
  ];
  test.for([
    ['432hz', ['432 Hz Bowl']],
    ['432 hz', ['432 Hz Bowl']],
    ['432Hz', ['432 Hz Bowl']],
    ['432 h', ['432 Hz Bowl']],
    ['10Hz', ['Binaural 10Hz']],
    ['10 hz', ['Binaural 10Hz']],
    ['10 HZ binaural', ['Binaural 10Hz']],
    ['cafe', ['Café at dawn']],
    ['CAFE\u0301', ['Café at dawn']],
    ['dawn café', ['Café at dawn']],
    ['f#4', ['F♯4 Bell']],
    ['F♯4', ['F♯4 Bell']],
    ['bell bb', ['Bell in B♭']],
    ['траве', ['Жуки в траве']],
    ['雨', ['夜晚的雨声', '静かな雨の音']],
    ['雨の', ['静かな雨の音']],
    ['雨声', ['夜晚的雨声']],
    ['ฝน', ['เสียงฝนตก']],
    ['موسيقى', ['مُوسِيقَى هادئة']],
    ['موسيـقى', ['مُوسِيقَى هادئة']],
    ['اصوات', ['أصوات المطر']],
    ['שלום', ['שָׁלוֹם']],
    ['full width', ['Ｆｕｌｌ Ｗｉｄｔｈ']],
    ['deep sleep', ['Deep-sleep drone']],
    ['sleep-deep', ['Deep-sleep drone']],
    ['SING', ['Singing bowls']],
    ['bowls singing', ['Singing bowls']],
    ['ingin', ['Singing bowls']],
    ['sining bowls', ['Singing bowls']],
    ['singging bowl', ['Singing bowls']],
    ['sinjing', ['Singing bowls']],
    ['bwols singing', ['Singing bowls']],
    ['ketle', ['Kettle']],
    ['ktetle', ['Kettle']],
    ['bowls xylophone', []],
    ['snigign', []],
    ['xylophone', []],
  ] as [string, string[]][])('%s finds %j', async ([q, found], { api, sql, user }) => {
    const category = await addCategory(sql, { slug: wordlessSlug() });
    await addSounds(
      sql,
      titles.map((title) => ({ category, title })),
    );
    expect(await find(api, user, q, { category })).toEqual(found);
  });

  test.for([
    ['432hz', '432 Hz Bowl'],
    ['10 hz', 'Binaural 10Hz'],
    ['f#', 'F♯4 Bell'],
    ['موسيقى', 'مُوسِيقَى هادئة'],
    ['雨声', '夜晚的雨声'],
  ] as const)('search=%s finds %s as well', async ([search, title], { api, sql, user }) => {
    const category = await addCategory(sql, { slug: wordlessSlug() });
    await addSounds(
      sql,
      titles.map((title) => ({ category, title })),
    );
    const { body } = await api
      .get('/sounds')
      .query({ search, category })
      .auth(user.access_token, bearer)
      .expect(200);
    expect(body.data.map((sound: { title: string }) => sound.title)).toEqual([title]);
  });

  test('ranks beginnings of titles, titles, tags, then descriptions', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'bowl', one)).toEqual([
      'Bowl of soup',
      'Large singing bowls',
      'Wind over a hut',
    ]);
  });

  test('finds tags and names of categories, also of a parent', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'calm', one)).toEqual(['Ocean']);
    const child = await addCategory(sql, { parent: one.category });
    await addSounds(sql, [{ title: 'Embers', category: child }]);
    const name = `Quxology${one.category.slice(-6).replace(/[^a-z]/g, '')}`;
    await sql`update public.categories set name = ${name} where slug = ${one.category}`;
    expect(await find(api, user, `${name} ocean`)).toEqual(['Ocean']);
    expect(await find(api, user, `embers ${name.toLowerCase()}`)).toEqual(['Embers']);
  });

  test('finds a sound by its present title until it is deleted', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    await sql`update public.sounds set title = 'Kettle' where category = ${one.category} and title = 'Ocean'`;
    expect(await find(api, user, 'ocean', one)).toEqual([]);
    expect(await find(api, user, 'kettle', one)).toEqual(['Kettle']);
    await sql`delete from public.sounds where category = ${one.category} and title = 'Kettle'`;
    expect(await find(api, user, 'kettle', one)).toEqual([]);
  });

  test('combines with filters', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'o', { ...one, featured: true })).toEqual(['Ocean']);
    expect(await find(api, user, 'o', { ...one, featured: true, tag: 'rain' })).toEqual([]);
  });

  test('does not find under a filter what has no category or duration', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    const title = `Loose${one.category.slice(-6)}`;
    await addSound(sql, { title });
    expect(await find(api, user, title)).toEqual([title]);
    expect(await find(api, user, title, one)).toEqual([]);
    expect(await find(api, user, title, { min_duration: 1 })).toEqual([]);
  });

  test('takes any text literally, also SQL and signs', async ({ api, sql, user }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, '!!', one)).toEqual([]);
    expect(await find(api, user, '  ', one)).toHaveLength(6);
    for (const q of [
      "'",
      "bowl' & !x:*|",
      '\\',
      '%',
      'bowl:*',
      '(bowl',
      '<->',
      '/',
      '#bowl',
      "'; drop table x; --",
      '\u0301',
      '—',
      '🌊',
    ])
      await find(api, user, q, one);
    expect(await find(api, user, "singing-bowl's", one)).toEqual(['Large singing bowls']);
    expect(await find(api, user, 'w'.repeat(100), one)).toEqual([]);
  });

  test('gives as many as limit says, the best', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(
      sql,
      Array.from({ length: 105 }, (_, n) => ({ category, title: n === 99 ? 'Rain' : `More rain ${n}` })),
    );
    expect(await find(api, user, 'rain', { category })).toHaveLength(100);
    expect((await find(api, user, 'rain', { category }))[0]).toBe('Rain');
    expect(await find(api, user, 'rain', { category, limit: 3 })).toHaveLength(3);
  });
});
