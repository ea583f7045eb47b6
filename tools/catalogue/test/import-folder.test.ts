import { rm } from 'node:fs/promises';
import { describe, expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, addSound } from '../../../test/support/catalogue.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { importAsking, imported, importFolder, makeFolder, picture, soundsIn } from './folder.ts';

describe('the first import', () => {
  test('takes names, pictures and the order of new sounds from the folder', async ({ sql }) => {
    // Takes the times that the sounds get otherwise.
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Taken', ${await addCategory(sql)}, now() + make_interval(secs => 0.003 * number)
      from generate_series(1, 1000) as number`;
    const { code, stderr, category, sounds } = await imported(sql, {
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
    expect([code, stderr]).toEqual([0, '']);
    const found = await sounds();
    const short = (path: string | null) => path?.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c');
    expect(
      found.map(({ title, audio_path, cover_image_path }) =>
        [title, short(audio_path), short(cover_image_path)].join(' '),
      ),
    ).toEqual([
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
  });

  test('changes nothing with --dry-run, and without --yes or a terminal', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
    const dry = await importFolder(folder, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toMatch(new RegExp(`new +${category}/a.wav +A \\(${category}\\)\\n`));
    expect(dry.stdout).toContain(
      '1 new, 0 to update, 0 unchanged, 0 left alone, 0 rejected; 1 file to upload',
    );
    const unasked = await importAsking(inject('stack'), folder);
    expect(unasked.code).toBe(1);
    expect(unasked.stderr).toMatch(/^There is no terminal to confirm in\. [^\n]+\n$/);
    expect(await soundsIn(sql, category)).toEqual([]);
    expect(await sql`select from storage.objects where name like ${`${category}/%`}`).toEqual([]);
    await importFolder(folder);
    expect(await importAsking(inject('stack'), folder)).toMatchObject({ code: 0, stderr: '' });
  });

  test('recognizes a sound that was made by hand for a recording of the same name', async ({ sql }) => {
    const category = await addCategory(sql);
    const byHand = { title: 'By hand', audio_path: `${category}/a.wav` };
    const id = await addSound(sql, { ...byHand, category });
    const { stdout } = await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.3) }));
    expect(stdout).toMatch(/left alone +\S+a.wav +(title, recording|recording, title): changed/);
    expect(await soundsIn(sql, category)).toMatchObject([{ id, ...byHand }]);
  });
});

/** Imports a folder of three sounds with pictures. */
async function threeSounds(sql: Sql) {
  const files: Record<string, Buffer> = {};
  for (const name of ['a', 'b', 'c'])
    Object.assign(files, { [`@/${name}.wav`]: tone(), [`@/${name}.jpg`]: await picture() });
  const first = await imported(sql, files);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const edit = (title: string, changes: Record<string, string | boolean>) =>
    sql`update public.sounds set ${sql(changes)} where category = ${first.category} and title = ${title}`;
  return { ...first, before: await first.sounds(), edit };
}

describe('the next import', () => {
  test('follows changes in the folder and in Storage, and deletes nothing', async ({ sql }) => {
    const { before, path, add, again, sounds } = await threeSounds(sql);
    const same = await again();
    expect(same.code).toBe(0);
    expect(same.stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to');
    expect(await sounds()).toEqual(before);
    const [a, b, c] = before;
    await add({ '@/a.wav': tone(0.5), '@/d.wav': tone() });
    await rm(path('b.wav'));
    await sql.begin(async (transaction) => {
      await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
      await transaction`delete from storage.objects where name = ${c?.['audio_path']}`;
    });
    const { stdout } = await again();
    expect(stdout).toContain('1 made, 2 updated, 0 unchanged, 0 left alone, 0 rejected.');
    expect(stdout).toMatch(/updated +\S+a.wav +(length, recording|recording, length)\n/);
    expect(stdout).toMatch(/updated +\S+c.wav +recording, missing from Storage\n/);
    const after = await sounds();
    expect(after).toMatchObject([
      { title: 'D', audio_version: expect.any(String) },
      { id: a?.['id'], title: 'A', duration_sec: '0.5', audio_version: expect.any(String) },
      { ...b },
      { id: c?.['id'], title: 'C', audio_version: expect.any(String) },
    ]);
    expect(after[1]?.['audio_path']).not.toBe(a?.['audio_path']);
    expect(await sql`select from storage.objects where name = ${a?.['audio_path']}`).toHaveLength(1);
  });

  test('keeps changes made in the dashboard, or replaces them with --overwrite', async ({ sql }) => {
    const { category, before, edit, add, again, sounds } = await threeSounds(sql);
    const other = await addCategory(sql);
    await edit('A', { title: 'Renamed', bowl_note: 'F3' });
    await edit('B', { category: other, cover_image_path: 'mine.jpg' });
    await sql`delete from public.sounds where category = ${category} and title = 'C'`;
    await add({ '@/a.jpg': await picture(), '@/b.jpg': await picture() });
    const { code, stdout } = await again();
    expect(code).toBe(0);
    for (const line of [
      /0 new, 1 to update, 0 unchanged, 3 left alone, 0 rejected; 2 files to upload/,
      /0 made, 1 updated, 0 unchanged, 3 left alone, 0 rejected\./,
      /updated +\S+a.wav +picture\n/,
      /left alone +\S+a.wav +title: changed in the dashboard/,
      /left alone +\S+b.wav +(picture, category|category, picture): changed/,
      /left alone +\S+c.wav +deleted in the dashboard/,
    ])
      expect(stdout).toMatch(line);
    expect(await soundsIn(sql, other)).toMatchObject([{ title: 'B', cover_image_path: 'mine.jpg' }]);
    expect(await sounds()).toMatchObject([{ title: 'Renamed', cover_version: expect.any(String) }]);
    expect((await again()).stdout).toContain('0 new, 0 to update, 0 unchanged, 3 left alone');

    expect((await again('--overwrite')).stdout).toContain('1 made, 2 updated, 0 unchanged, 0 left alone');
    const after = (await sounds()).sort((one, two) => one['title'].localeCompare(two['title']));
    // The folder has no bowl notes.
    const a = { id: before[0]?.['id'], title: 'A', bowl_note: 'F3' };
    expect(after).toMatchObject([a, { title: 'B' }, { title: 'C' }]);
  });

  test('agrees with the dashboard on an activation, a new slug and an equal title', async ({ sql }) => {
    const { category, add, again, sounds } = await imported(sql, { '@/a.wav': tone() }, '--hidden');
    expect(await sounds()).toMatchObject([{ is_active: false }]);
    await sql`update public.sounds set title = 'Renamed', is_active = true where category = ${category}`;
    const slug = `${category}-renamed`;
    await sql`update public.categories set slug = ${slug} where slug = ${category}`;
    await add({ 'sounds.csv': 'file,title\n@/a.wav,Renamed\n' });
    expect((await again('--hidden')).stdout).toContain('0 new, 0 to update, 1 unchanged, 0 left alone');
    expect(await soundsIn(sql, slug)).toMatchObject([{ title: 'Renamed', is_active: true }]);
    await add({ 'sounds.csv': 'file,title\n@/a.wav,Again\n' });
    expect((await again()).stdout).toContain('0 new, 1 to update, 0 unchanged, 0 left alone');
  });
});
