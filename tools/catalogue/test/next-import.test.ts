import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, addSound } from '../../../test/support/catalogue.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { imported, importFolder, makeFolder, picture, soundsIn } from './folder.ts';

/** Imports a folder of three sounds with pictures. */
async function threeSounds(sql: Sql) {
  const files: Record<string, Buffer> = {};
  for (const name of ['a', 'b', 'c'])
    Object.assign(files, { [`@/${name}.wav`]: tone(), [`@/${name}.jpg`]: await picture() });
  const first = await imported(sql, files);
  expect([first.code, first.stderr]).toEqual([0, '']);
  const before = await first.sounds();
  const edit = (title: string, changes: Record<string, string>) =>
    sql`update public.sounds set ${sql(changes)} where category = ${first.category} and title = ${title}`;
  return { ...first, before, edit };
}

describe('the next import', () => {
  test('changes nothing if the folder is the same, here or elsewhere, also if a slug was changed', async ({
    sql,
  }) => {
    const { category, folder, before, again, sounds } = await threeSounds(sql);
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
    const elsewhere = `${folder}-${randomUUID()}`;
    await rename(folder, elsewhere);
    await importFolder(elsewhere);
    expect(await sounds()).toEqual(before);
    const renamed = `${category}-renamed`;
    await sql`update public.categories set slug = ${renamed} where slug = ${category}`;
    expect((await importFolder(elsewhere)).stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone');
    expect(await soundsIn(sql, renamed)).toHaveLength(3);
    await rm(elsewhere, { recursive: true });
  });

  test('follows changes in the folder and in Storage, and deletes nothing', async ({ sql }) => {
    const { before, path, add, again, sounds } = await threeSounds(sql);
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
    expect(after.map(({ id, title }) => [id, title])).toEqual([
      [expect.any(String), 'D'],
      [a?.['id'], 'A'],
      [b?.['id'], 'B'],
      [c?.['id'], 'C'],
    ]);
    expect(after[1]).toMatchObject({
      duration_sec: '0.5',
      audio_path: expect.not.stringMatching(a?.['audio_path']),
    });
    expect(after.filter(({ audio_version }) => audio_version === null)).toEqual([]);
    expect(after[2]).toEqual(b);
    expect(await sql`select from storage.objects where name = ${a?.['audio_path']}`).toHaveLength(1);
  });

  test('keeps changes made in the dashboard, or replaces them with --overwrite', async ({ sql }) => {
    const { category, before, edit, add, again, sounds, titles } = await threeSounds(sql);
    const other = await addCategory(sql);
    await edit('A', { title: 'Renamed', bowl_note: 'F3' });
    await edit('B', { category: other, cover_image_path: 'mine.jpg' });
    await sql`delete from public.sounds where category = ${category} and title = 'C'`;
    await add({ '@/a.jpg': await picture(), '@/b.jpg': await picture() });
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toContain('0 new, 1 to update, 0 unchanged, 3 left alone, 0 rejected; 2 files to upload');
    expect(stdout).toContain('0 made, 1 updated, 0 unchanged, 3 left alone, 0 rejected.');
    expect(stdout).toMatch(/updated +\S+a.wav +picture\n/);
    expect(stdout).toMatch(/left alone +\S+a.wav +title: changed in the dashboard/);
    expect(stdout).toMatch(/left alone +\S+b.wav +(picture, category|category, picture): changed/);
    expect(stdout).toMatch(/left alone +\S+c.wav +deleted in the dashboard/);
    expect(await soundsIn(sql, other)).toMatchObject([{ title: 'B', cover_image_path: 'mine.jpg' }]);
    expect(await sounds()).toMatchObject([{ title: 'Renamed', cover_version: expect.any(String) }]);
    expect((await again()).stdout).toContain('0 new, 0 to update, 0 unchanged, 3 left alone');

    expect((await again('--overwrite')).stdout).toContain('1 made, 2 updated, 0 unchanged, 0 left alone');
    expect((await titles()).sort()).toEqual(['A', 'B', 'C']);
    // The folder has no bowl notes.
    const found = (await sounds()).filter(({ id }) => id === before[0]?.['id']);
    expect(found).toMatchObject([{ title: 'A', bowl_note: 'F3' }]);
  });

  test('counts a sound as unchanged that the dashboard and the folder changed alike', async ({ sql }) => {
    const { category, add, again } = await imported(sql, { '@/a.wav': tone() });
    const rename = (title: string) =>
      sql`update public.sounds set title = ${title} where category = ${category}`;
    await rename('Renamed');
    await add({ 'sounds.csv': 'file,title\n@/a.wav,Renamed\n' });
    expect((await again()).stdout).toContain('0 new, 0 to update, 1 unchanged, 0 left alone, 0 rejected');
    await rename('Again');
    expect((await again()).stdout).toContain('title: changed in the dashboard');
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
