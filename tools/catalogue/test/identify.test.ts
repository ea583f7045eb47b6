import { rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { assignCategories } from '../identify/categories.ts';
import type { Category } from '../project/catalogue.ts';
import { mp3With, titled } from './files.ts';
import { imported, importFolder, makeFolder, readFiles, soundsIn, titlesOf } from './folder.ts';

test('a folder below an imported one, and one given by --source, have the same sounds', async ({ sql }) => {
  const { category, folder, add, again, sounds } = await imported(sql, {
    '@/a.wav': tone(),
    '@/b.wav': tone(),
  });
  const [a, b] = (await sounds()).map(({ id }) => id);
  const below = await importFolder(join(folder, category));
  expect(below.stdout).toMatch(/note +2 sounds +known from "/);
  expect(below.stdout).toContain('0 new, 0 to update, 2 unchanged');
  await add({ '@/a.wav': tone(0.3) });
  await again();
  await add({ '@/b.wav': tone(0.4) });
  await importFolder(join(folder, category));
  expect(await sounds()).toMatchObject([
    { id: a, duration_sec: '0.3' },
    { id: b, duration_sec: '0.4' },
  ]);
  const other = await makeFolder({ [`${category}/a.wav`]: tone(0.5) });
  await importFolder(other, '--source', basename(folder));
  expect((await sounds())[0]).toMatchObject({ id: a, duration_sec: '0.5' });
  const strange = await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.6) }));
  expect(strange.stdout).toContain('1 made, 0 updated');
  expect((await sounds()).map(({ duration_sec }) => duration_sec)).toEqual(['0.6', '0.5', '0.4']);
});

test('a sound becomes another one with --overwrite only, or if its title was a file name', async ({
  sql,
}) => {
  const files = { '@/a.mp3': titled('Deep bowl 1'), '@/b.wav': tone(), '@/bowl.mp3': mp3With([]) };
  const { path, add, again, sounds } = await imported(sql, files);
  const [before] = await sounds();
  await add({ '@/a.mp3': titled('Gong'), '@/b.mp3': titled('Rain'), '@/bowl.mp3': titled('Deep bowl 2') });
  await rm(path('b.wav'));
  const { code, stdout } = await again();
  expect(code).toBe(1);
  for (const line of [
    /held back +\S+a\.mp3 +"Deep bowl 1" would become "Gong", with another recording; --overwrite/,
    /update +\S+bowl\.mp3 +"Bowl" becomes "Deep bowl 2", recording/,
    /note +\S+b\.wav +Gone from the folder\. Its sound "B" is left alone\./,
    /1 new, 1 to update, 0 unchanged, 0 left alone, 1 held back, 0 rejected/,
  ])
    expect(stdout).toMatch(line);
  expect((await sounds()).find(({ id }) => id === before?.['id'])).toEqual(before);
  const overwriting = await again('--overwrite');
  expect(overwriting.code).toBe(0);
  expect(overwriting.stdout).toMatch(/update +\S+a\.mp3 +"Deep bowl 1" becomes "Gong", recording/);
});

test('a renamed or moved file keeps its sound, and copies and links are left out', async ({ sql }) => {
  const other = await addCategory(sql);
  const [recording, unknown] = [tone(), tone()];
  const files = { '@/a.wav': recording, '@/b.wav': tone(), '@/c.wav': tone() };
  const { category, folder, path, add, again, sounds } = await imported(sql, files);
  const before = await sounds();
  await rename(path('a.wav'), path('gong.wav'));
  await symlink('gong.wav', path('a.wav'));
  await add({ '@/hum.wav': recording, '@/new.wav': unknown, '@/new copy.wav': unknown });
  await add({ [`${other}/x.wav`]: tone() });
  await rename(path('b.wav'), join(folder, other, 'b.wav'));
  await rm(path('c.wav'));
  const dry = await again('--dry-run');
  expect([dry.code, await sounds()]).toEqual([0, before]);
  for (const line of [
    /update +\S+gong\.wav +"A" becomes "Gong"\n/,
    /moved +\S+gong\.wav +was \S+a\.wav\n/,
    /moved +\S+\/b\.wav +was \S+\/b\.wav\n/,
    /note +\S+\/a\.wav +A copy of \S+\.wav: not imported\.\n/,
    /note +\S+hum\.wav +A copy of \S+gong\.wav: not imported\.\n/,
    /note +\S+new\.wav +A copy of \S+new copy\.wav: not imported\.\n/,
    /note +\S+c\.wav +Gone from the folder\. Its sound "C" is left alone\.\n/,
  ])
    expect(dry.stdout).toMatch(line);
  expect((await again()).stdout).toContain(
    '2 new, 2 to update, 0 unchanged, 0 left alone, 0 rejected; 2 files',
  );
  const [a, b, c] = before.map(({ id, audio_path }) => ({ id, audio_path }));
  const after = await sql`
    select id, title, category, audio_path from public.sounds
    where id in ${sql(before.map(({ id }) => id))} order by title`;
  expect(after).toEqual([
    { ...b, title: 'B', category: other },
    { ...c, title: 'C', category },
    { ...a, title: 'Gong', category },
  ]);
  expect((await again()).stdout).toContain('0 new, 0 to update, 4 unchanged');
});

test('records of old versions, without folders and checksums, are recognized', async ({ sql }) => {
  const files = ['a', 'b', 'c', 'd'].map((name) => [`@/${name}.wav`, tone()]);
  const { category, path, add, again, sounds } = await imported(sql, Object.fromEntries(files));
  await sql`
    update public.imported_sounds set checksum = null, places = jsonb_build_array((places -> 0) - 'source')
    where fields ->> 'category' = ${category}`;
  const [a, b, c, d] = await sounds();
  await rename(path('b.wav'), path('e.wav'));
  await add({ '@/c.wav': tone(0.6) });
  expect((await again()).stdout).toContain('0 new, 2 to update, 2 unchanged');
  const changed = [
    { id: b?.['id'], title: 'E' },
    { id: c?.['id'], title: 'C', duration_sec: '0.6' },
  ];
  expect(await sounds()).toMatchObject([{ ...a }, ...changed, { ...d }]);
});

test('keys tell sounds apart that share a recording or have none', async ({ sql }) => {
  const sheet = (title: string) =>
    `file,key,title,category\n@/a.wav,,First,\n@/a.wav,short,${title},@\n,silence,Silence,@\n,,Nothing yet,@\n`;
  const first = await imported(sql, { '@/a.wav': tone(), 'sounds.csv': sheet('Second') });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const before = await first.sounds();
  expect(before).toMatchObject([
    { title: 'First', audio_version: expect.any(String) },
    { title: 'Second', audio_path: before[0]?.['audio_path'] },
    { title: 'Silence', audio_path: null },
    { title: 'Nothing yet', audio_path: null },
  ]);
  await rename(first.path('a.wav'), first.path('b.wav'));
  await first.add({ 'sounds.csv': sheet('Shorter').replaceAll('/a.wav', '/b.wav') });
  const { stdout } = await first.again();
  expect(stdout).toContain('0 new, 1 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
  const after = await first.sounds();
  expect([after.map(({ id }) => id), after[1]?.['title']]).toEqual([before.map(({ id }) => id), 'Shorter']);
});

const tones = (names: string[]) => Object.fromEntries(names.map((name) => [name, tone()]));

/** Assigns categories to new sounds of these names. @returns the category of each, with those made and the notes */
async function assign(names: string[], categories: Category[], make = false) {
  const { sounds } = await readFiles(tones(names));
  const circumstances = { source: 'x', categories, known: new Map(), answers: {}, ask: undefined, make };
  const assigned = await assignCategories(sounds, circumstances);
  return { ...assigned, slugs: sounds.map(({ fields }) => fields.category) };
}

test('a category is found by the slug or name of the folder, or a note says that there is none', async () => {
  const row = { description: null, sort_order: 0, is_active: true };
  const { slugs, notes } = await assign(
    ['calm/a.wav', 'calm/Deep/c.wav', 'CALM NIGHTS/x/b.wav', 'deep/d.wav', 'e.wav', 'new/f.wav', 'new/g.wav'],
    [
      { ...row, id: '1', slug: 'calm', name: 'Calm nights', parent_id: null },
      { ...row, id: '2', slug: 'deep', name: 'Deep', parent_id: '1' },
    ],
  );
  expect(slugs).toEqual(['calm', 'deep', 'calm', 'deep', undefined, undefined, undefined]);
  const reason = expect.stringMatching(
    /^No category: there is none with the slug or name "new"\. --make-categ/,
  );
  expect(notes).toEqual([{ where: 'new/ (2 files)', reason }]);
});

test('folders whose names make the same slug become categories of their own', async () => {
  const folders = ['睡眠 1', '冥想 1', '1', '1++', 'Ärger 1', 'aerger 1'];
  const names = folders.flatMap((folder) => [`${folder}/a.wav`, `Top/${folder}/b.wav`]);
  const { made, slugs } = await assign(names, [], true);
  const namesOf = (isTop: boolean) =>
    made
      .filter(({ parent_id }) => (parent_id === null) === isTop)
      .map(({ name }) => name)
      .sort();
  expect(namesOf(true)).toEqual(['Top', ...folders].sort());
  expect(namesOf(false)).toEqual(folders.toSorted());
  expect(new Set(made.map(({ slug }) => slug)).size).toBe(made.length);
  expect(new Set(slugs).size).toBe(names.length);
  expect(await assign(names, made, true)).toEqual({ made: [], notes: [], slugs });
});

test('--make-categories makes intentions and sub-intentions of folders', async ({ sql }) => {
  const name = `Rain ${newSlug('on')}`;
  const [slug, sub] = [name.toLowerCase().replace(' ', '-'), newSlug('roofs')];
  const names = [`${name}/a.wav`, `${name}/${sub}/b.wav`, `${name}/${sub}/deeper/c.wav`];
  const folder = await makeFolder(tones(names));
  const { code, stdout } = await importFolder(folder, '--make-categories');
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`new +${slug} +category "${slug}"`));
  const [below] = await sql`
    select sub.name, top.name as parent from public.categories as sub
      join public.categories as top on top.id = sub.parent_id where sub.slug = ${sub} and top.slug = ${slug}`;
  expect(below).toEqual({ name: sub, parent: name });
  await importFolder(await makeFolder(tones([`${sub}/d.wav`])), '--make-categories');
  expect(titlesOf(await soundsIn(sql, slug))).toEqual(['A']);
  expect(titlesOf(await soundsIn(sql, sub))).toEqual(['D', 'B', 'C']);
});
