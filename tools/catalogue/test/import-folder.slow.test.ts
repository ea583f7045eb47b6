import { rm } from 'node:fs/promises';
import { createClient } from '@supabase/supabase-js';
import sharp from 'sharp';
import { expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, addSection, addSound, deleteForGood, newSlug } from '../../../test/support/catalogue.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { picture } from './files.ts';
import { hideFfmpeg, importAsking, imported, importFolder, makeFolder, soundsIn, titlesOf } from './folder.ts';

hideFfmpeg();

test('the first import takes names, pictures and the order from the folder', async ({ sql }) => {
  const { category, sounds } = await imported(sql, {
    '@/01 - deep_bowl.wav': tone(),
    '@/Bowl 2.wav': tone(),
    '@/Bowl 10.wav': tone(),
    '@/bowl-10.wav': tone(),
    '@/Rain & Wind #2.WAV': tone(),
    '@/Rain & Wind #2.png': await picture('png'),
    '@/Cover.jpeg': await picture(),
    '@/Ünïcode/ärger 雨.wav': tone(),
    '@/Ünïcode/雨.wav': tone(),
  });
  const found = await sounds();
  const short = (path: string | null) => path?.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c');
  const lineOf = ({ title, audio_path, cover_image_path }: (typeof found)[number]) =>
    [title, short(audio_path), short(cover_image_path)].join(' ');
  expect(found.map(lineOf)).toEqual([
    'Deep bowl c/01-deep-bowl-x.wav c/cover-x.jpeg',
    'Bowl 2 c/bowl-2-x.wav c/cover-x.jpeg',
    'Bowl 10 c/bowl-10-x.wav c/cover-x.jpeg',
    'Bowl 10 c/bowl-10-x.wav c/cover-x.jpeg',
    'Rain & Wind #2 c/rain-and-wind-2-x.wav c/cover-x.png',
    'Ärger 雨 c/uenicode/aerger-x.wav ',
    '雨 c/uenicode/sound-x.wav ',
  ]);
  const isStored = (each: (typeof found)[number]) =>
    each['audio_version'] && (each['cover_version'] || !each['cover_image_path']);
  expect(found.every(isStored)).toBe(true);
  // The order stays if the database moves one of the times to the next millisecond.
  const times = found.map(({ created_at }) => created_at.getTime());
  for (const [index, time] of times.slice(1).entries()) expect((times[index] ?? 0) - time).toBeGreaterThan(5);
});

test('an import needs --yes or a terminal if it changes something', async ({ sql }) => {
  const category = await addCategory(sql);
  const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
  const unasked = await importAsking(inject('stack'), folder);
  expect(unasked.code).toBe(1);
  expect(unasked.stderr).toMatch(/^There is no terminal to confirm in\. [^\n]+\n$/);
  expect(await soundsIn(sql, category)).toEqual([]);
  expect(await sql`select from storage.objects where name like ${`${category}/%`}`).toEqual([]);
  await importFolder(folder);
  expect(await importAsking(inject('stack'), folder)).toMatchObject({ code: 0, stderr: '' });
});

test('a recording is matched with a sound made by hand that has a file of the same name', async ({ sql }) => {
  const category = await addCategory(sql);
  const byHand = { title: 'By hand', audio_path: `${category}/a.wav`, duration_sec: null };
  const id = await addSound(sql, { ...byHand, category });
  const { stdout } = await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.3) }));
  expect(stdout).toMatch(/left alone +\S+a.wav +(title, recording|recording, title): not from an import; --overwrite/);
  expect(await soundsIn(sql, category)).toMatchObject([{ id, ...byHand }]);
});

async function fourSounds(sql: Sql) {
  const files: Record<string, Buffer> = {};
  for (const name of ['a', 'b', 'c', 'd'])
    Object.assign(files, { [`@/${name}.wav`]: tone(), [`@/${name}.jpg`]: await picture() });
  const first = await imported(sql, files);
  const edit = (title: string, changes: Record<string, string>) =>
    sql`update public.sounds set ${sql(changes)} where category = ${first.category} and title = ${title}`;
  return { ...first, before: await first.sounds(), edit };
}

test('the next import applies changes in the folder and in Storage, and deletes nothing', async ({ sql }) => {
  const { before, path, next, sounds } = await fourSounds(sql);
  const same = await next();
  expect(same.code).toBe(0);
  expect(same.stdout).toContain('0 new, 0 to update, 4 unchanged, 0 left alone, 0 rejected; 0 files to');
  expect(await sounds()).toEqual(before);
  const [a, b, c, d] = before;
  await rm(path('b.wav'));
  const { apiUrl, secretKey } = inject('stack');
  const { storage } = createClient(apiUrl, secretKey);
  const thumbnail = `${d?.['cover_image_path']}.256.webp`;
  await storage.from('audio').remove([c?.['audio_path']]);
  await storage.from('covers').remove([thumbnail]);
  const { stdout } = await next({ '@/a.wav': tone(0.5), '@/e.wav': tone() });
  for (const line of [
    /1 made, 3 updated, 0 unchanged, 0 left alone, 0 rejected\./,
    /updated +\S+a.wav +(length, recording|recording, length)\n/,
    /updated +\S+c.wav +recording, missing from Storage\n/,
    /updated +\S+d.wav +picture, missing from Storage\n/,
  ])
    expect(stdout).toMatch(line);
  const after = await sounds();
  const ids = [expect.any(String), ...before.map(({ id }) => id)];
  expect([after.map(({ id }) => id), titlesOf(after)]).toEqual([ids, ['E', 'A', 'B', 'C', 'D']]);
  expect(after.filter(({ audio_version }) => audio_version === null)).toEqual([]);
  expect([after[1]?.['duration_sec'], after[2]]).toEqual(['0.5', b]);
  expect(after[1]?.['audio_path']).not.toBe(a?.['audio_path']);
  expect(await sql`select from storage.objects where name = ${a?.['audio_path']}`).toHaveLength(1);
  const { data } = await storage.from('covers').download(thumbnail);
  const { format, width, height } = await sharp(await data?.arrayBuffer()).metadata();
  expect({ format, width, height }).toEqual({ format: 'webp', width: 256, height: 256 });
  expect(await sql`select from admin.unused_files where name = ${thumbnail}`).toEqual([]);
});

test('changes made in the dashboard stay, or are replaced with --overwrite', async ({ sql }) => {
  const { category, before, edit, next, sounds } = await fourSounds(sql);
  const other = await addCategory(sql);
  await edit('A', { title: 'Renamed', bowl_note: 'F3' });
  await edit('B', { category: other, cover_image_path: 'mine.jpg' });
  const [c] = await sql`select id from public.sounds where category = ${category} and title = 'C'`;
  await deleteForGood(sql, [c?.['id']]);
  const { code, stdout } = await next({ '@/a.jpg': await picture(), '@/b.jpg': await picture() });
  expect(code).toBe(0);
  for (const line of [
    /0 new, 1 to update, 1 unchanged, 3 left alone, 0 rejected; 2 files to upload/,
    /0 made, 1 updated, 1 unchanged, 3 left alone, 0 rejected\./,
    /updated +\S+a.wav +picture\n/,
    /left alone +\S+a.wav +title: changed in the dashboard/,
    /left alone +\S+b.wav +(picture, category|category, picture): changed/,
    /left alone +\S+c.wav +deleted in the dashboard/,
  ])
    expect(stdout).toMatch(line);
  expect(await soundsIn(sql, other)).toMatchObject([{ title: 'B', cover_image_path: 'mine.jpg' }]);
  expect(await sounds()).toMatchObject([{ title: 'Renamed', cover_version: expect.any(String) }, { title: 'D' }]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 1 unchanged, 3 left alone');

  expect((await next({}, '--overwrite')).stdout).toContain('1 made, 2 updated, 1 unchanged, 0 left alone');
  const after = (await sounds()).sort((one, two) => one['title'].localeCompare(two['title']));
  // The bowl note stays, because the folder has none.
  const a = { id: before[0]?.['id'], title: 'A', bowl_note: 'F3' };
  expect(after).toMatchObject([a, { title: 'B' }, { title: 'C' }, { title: 'D' }]);
});

test('an import writes nothing of the trash, also with --overwrite, and names it', async ({ sql }) => {
  const { category, before, next, sounds } = await fourSounds(sql);
  const [slug, deleted, section, kept] = [await addCategory(sql), newSlug(), newSlug(), newSlug()];
  const ids = before.map(({ id }) => id);
  await addSection(sql, { slug: deleted });
  await sql`delete from public.sounds where id = any (${ids.slice(0, 2)})`;
  await sql`delete from public.categories where slug = ${slug}`;
  await sql`delete from public.home_sections where slug = ${deleted}`;
  const trash = () => sql`
    select to_jsonb(sounds) as row from public.sounds where id = any (${ids.slice(0, 2)})
    union all select to_jsonb(categories) from public.categories where slug = ${slug}
    union all select to_jsonb(home_sections) from public.home_sections where slug = ${deleted} order by row`;
  const untouched = await trash();
  const sheets = {
    'sounds.csv': `file,title,category\n@/b.wav,Another title,\n@/new.wav,New,${slug}\n`,
    'categories.csv': `slug,name\n${slug},Another name\n`,
    'home_sections.csv': `slug,title,mode,rule_type,rule_value,sounds
${deleted},Another title,,,,
${section},Picks,,,,"${ids[0]},${ids[2]}"
${kept},Rule,rule,category,${slug},\n`,
  };
  const { code, stdout } = await next({ '@/a.wav': tone(0.7), '@/new.wav': tone(0.9), ...sheets }, '--overwrite');
  expect([code, await trash()]).toEqual([0, untouched]);
  const hint = 'deleted on \\d{4}-\\d\\d-\\d\\d, set is_active to true in the dashboard to bring it back';
  for (const line of [
    `left alone +\\S+a.wav +${hint}`,
    `left alone +\\S+b.wav +${hint}`,
    `left alone +categories.csv line 2 +category "${slug}": ${hint}`,
    `left alone +home_sections.csv line 2 +home section "${deleted}": ${hint}`,
    `note +\\S+new.wav +Written without the category "${slug}": it was ${hint}`,
    `new +home_sections.csv line 3 +home section "${section}": written without the sound "A": it was ${hint}`,
    `new +home_sections.csv line 4 +home section "${kept}": written without its rule: the category "${slug}" was ${hint}`,
  ])
    expect(stdout).toMatch(new RegExp(line));
  const visible = async () => (await sounds()).flatMap(({ is_active, title }) => (is_active ? [title] : []));
  expect(await visible()).toEqual(['C', 'D']);
  const [added] = await sql`select category, is_active from public.sounds where audio_path like ${`${category}/new%`}`;
  expect(added).toEqual({ category: null, is_active: true });
  const [picks] = await sql`
    select array_agg(sound_id::text) as ids from public.home_section_sounds
    where section_id = (select id from public.home_sections where slug = ${section})`;
  expect(picks).toEqual({ ids: [ids[2]] });
  await sql`update public.sounds set is_active = true where id = any (${ids.slice(0, 2)})`;
  expect(await visible()).toEqual(['A', 'B', 'C', 'D']);
});

test('an activation, a new slug and equal titles and tags in the dashboard cause no conflict', async ({ sql }) => {
  const files = { '@/a.wav': tone(), '@/b.wav': tone(), 'sounds.csv': 'file,category\n@/b.wav,@\n' };
  const { category, next, sounds } = await imported(sql, files, '--hidden');
  expect(await sounds()).toMatchObject([{ is_active: false }, { is_active: false }]);
  await sql`update public.sounds set title = 'Renamed', is_active = true where title = 'A' and category = ${category}`;
  await sql`update public.sounds set tags = ${['e\u0301']} where title = 'B' and category = ${category}`;
  const slug = `${category}-renamed`;
  await sql`update public.categories set slug = ${slug} where slug = ${category}`;
  const same = await next({ 'sounds.csv': 'file,title,tags\n@/a.wav,Renamed,\n@/b.wav,,\u00e9\n' }, '--hidden');
  expect(same.stdout).toContain('0 new, 0 to update, 2 unchanged, 0 left alone');
  expect(await soundsIn(sql, slug)).toMatchObject([{ title: 'Renamed', is_active: true }, { title: 'B' }]);
  const { stdout } = await next({ 'sounds.csv': 'file,title\n@/a.wav,Again\n' });
  expect(stdout).toContain('0 new, 1 to update, 1 unchanged, 0 left alone');
});
