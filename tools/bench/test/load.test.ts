import type { ScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { load, type Size } from '../load.ts';

// `npm run bench:load` goes into a development database, which holds what somebody works with.

const SIZE: Size = { sounds: 100, categories: 20, customers: 10, favorites: 50 };

let database: ScratchDatabase;
let sql: postgres.Sql;
beforeAll(async () => {
  database = await startDatabase();
  sql = postgres(database.databaseUrl, { max: 1 });
});
afterAll(async () => {
  await sql.end();
  await database.stop();
});

const counted = async () => {
  const [row] = await sql`
    select
      (select count(*)::int from public.sounds) as sounds, (select count(*)::int from public.play_counts) as play_counts,
      (select count(*)::int from public.categories) as categories, (select count(*)::int from auth.users) as accounts,
      (select count(*)::int from public.favorites) as favorites,
      (select count(*)::int from public.home_sections) as sections`;
  return row;
};

test('loads beside a played sound without changing it, or writes nothing where a row is there', async () => {
  // The last of what is loaded.
  await sql`insert into public.home_sections (slug, title) values ('section-1', 'A section of mine')`;
  await expect(load(database.databaseUrl, SIZE)).rejects.toMatchObject({ code: '23505' });
  expect(await sql`select from public.categories`).toHaveLength(0);
  await sql`delete from public.home_sections`;

  // The first by title: loaded sounds are deleted again in that order.
  await sql`insert into public.sounds (title) values ('A sound of mine')`;
  await sql`insert into public.play_counts select id, 41 from public.sounds`;
  const mine = () => sql`
    select sound.*, plays from public.sounds as sound left join public.play_counts on sound_id = id
    where title = 'A sound of mine'`;
  const before = await mine();
  expect(before).toMatchObject([{ plays: '41' }]);

  await load(database.databaseUrl, SIZE);
  const loaded = await counted();
  expect(loaded).toMatchObject({ sounds: 101, categories: 20, accounts: 10, favorites: 150, sections: 20 });
  await expect(load(database.databaseUrl, SIZE)).rejects.toMatchObject({ code: '23505' });
  expect(await counted()).toEqual(loaded);
  expect(await mine()).toEqual(before);
});
