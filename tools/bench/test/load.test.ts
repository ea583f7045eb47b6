import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';
import { load } from '../load.ts';

// `npm run bench:load` writes into a development database, whose rows must survive.
test('npm run bench:load changes no existing row, and writes nothing if one of its rows exists', async ({
  onTestFinished,
}) => {
  const { databaseUrl, stop } = await startDatabase();
  onTestFinished(stop);
  const sql = postgres(databaseUrl, { max: 1 });
  const loading = () => load(databaseUrl, { sounds: 100, categories: 20, customers: 10, favorites: 50 });
  const counts = async () => {
    const tables = 'public.sounds public.play_counts public.categories auth.users public.favorites'.split(' ');
    const counted = tables.map((table) => `(select count(*)::int from ${table})`);
    return (await sql.unsafe(`select array[${counted}] as counts`))[0]?.['counts'];
  };
  // Add a row that would be loaded last.
  await sql`insert into public.home_sections (slug, title) values ('section-1', 'A section of mine')`;
  await expect(loading()).rejects.toMatchObject({ code: '23505' });
  expect(await counts()).toEqual([0, 0, 0, 0, 0]);
  await sql`truncate public.home_sections cascade`;

  // Add the first sound by title, because loaded sounds are deleted in that order.
  await sql`insert into public.sounds (title) values ('A sound of mine')`;
  await sql`insert into public.play_counts select id, 41 from public.sounds`;
  const mine = () => sql`
    select sound.*, plays from public.sounds as sound left join public.play_counts on sound_id = id
    where title = 'A sound of mine'`;
  const before = await mine();
  expect(before).toMatchObject([{ plays: '41' }]);

  await loading();
  const loaded = await counts();
  expect(loaded).toEqual([101, expect.any(Number), 20, 10, 150]);
  await expect(loading()).rejects.toMatchObject({ code: '23505' });
  expect(await counts()).toEqual(loaded);
  expect(await mine()).toEqual(before);
  await sql.end();
});
