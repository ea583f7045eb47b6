import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound, addSounds } from '../support/catalogue.ts';
import { type Session, type Sql, test } from '../support/test.ts';

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
  test('finds words in any order, as beginnings, without accents or case, in any script', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'bowl singing', one)).toEqual(['Large singing bowls']);
    expect(await find(api, user, 'SING', one)).toEqual(['Large singing bowls']);
    expect(await find(api, user, 'dawn cafe', one)).toEqual(['Café at dawn']);
    expect(await find(api, user, 'траве', one)).toEqual(['Жуки в траве']);
    expect(await find(api, user, 'deep-sleep', one)).toEqual(['Ocean']);
    expect(await find(api, user, 'bowl xylophone', one)).toEqual([]);
  });

  test('forgives one typo in a word: a letter missing, added, changed, or two swapped', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    for (const typed of ['sining bowl', 'singging bowl', 'sinjing bowls', 'bwol singing'])
      expect(await find(api, user, typed, one), typed).toEqual(['Large singing bowls']);
    expect(await find(api, user, 'snigign', one)).toEqual([]);
  });

  test('forgives a typo that a title had, too, before it was corrected or hidden', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    const [corrected] = await addSounds(sql, [
      { ...one, title: 'Oceam' },
      { ...one, title: 'Oceen', is_active: false },
    ]);
    await sql`update public.sounds set title = 'Sea' where id = ${String(corrected)}`;
    expect(await find(api, user, 'oceam', one)).toEqual(['Ocean']);
    expect(await find(api, user, 'oceen', one)).toEqual(['Ocean']);
  });

  test('puts titles that begin so first, then other titles, then tags and categories, then descriptions', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'bowl', one)).toEqual([
      'Bowl of soup',
      'Large singing bowls',
      'Wind over a hut',
    ]);
  });

  test('finds what is tagged so, and what is filed under a category of that name or below it', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    expect(await find(api, user, 'calm', one)).toEqual(['Ocean']);
    const child = await addCategory(sql, { parent: one.category });
    await addSounds(sql, [{ title: 'Embers', category: child }]);
    const name = `Quxology${one.category.slice(-6)}`;
    await sql`update public.categories set name = ${name} where slug = ${one.category}`;
    expect(await find(api, user, `${name} ocean`)).toEqual(['Ocean']);
    expect(await find(api, user, `embers ${name.toLowerCase()}`)).toEqual(['Embers']);
  });

  test('finds what is there now: a new title, a renamed one, not what was deleted', async ({
    api,
    sql,
    user,
  }) => {
    const one = await addCatalogue(sql);
    await sql`update public.sounds set title = 'Kettle' where category = ${one.category} and title = 'Ocean'`;
    expect(await find(api, user, 'ocean', one)).toEqual([]);
    expect(await find(api, user, 'ketle', one)).toEqual(['Kettle']);
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

  test('takes any text: signs find nothing, a blank one is ignored, and what SQL or a search would read is text', async ({
    api,
    sql,
    user,
  }) => {
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
