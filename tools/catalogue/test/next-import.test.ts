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
  test('changes nothing if the folder is the same, here or elsewhere', async ({ sql }) => {
    const { folder, before, again, sounds } = await threeSounds(sql);
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
    const elsewhere = `${folder}-${randomUUID()}`;
    await rename(folder, elsewhere);
    await importFolder(elsewhere);
    await rm(elsewhere, { recursive: true });
    expect(await sounds()).toEqual(before);
  });

  test('uploads a changed recording under a new name, and keeps the old one', async ({ sql }) => {
    const { before, add, again, sounds } = await threeSounds(sql);
    await add({ '@/a.wav': tone(0.5) });
    expect((await again()).stdout).toMatch(/updated +\S+a.wav +(length, recording|recording, length)\n/);
    const [after, ...others] = await sounds();
    expect(others).toEqual(before.slice(1));
    expect(after).toMatchObject({ id: before[0]?.['id'], duration_sec: '0.5', title: 'A' });
    expect([after?.['audio_path'], after?.['audio_version']]).not.toContain(before[0]?.['audio_path']);
    const stored = await sql`select from storage.objects where name = ${before[0]?.['audio_path']}`;
    expect([after?.['audio_version'] !== null, stored.length]).toEqual([true, 1]);
  });

  test('adds new sounds, and deletes none whose file is gone', async ({ sql }) => {
    const { before, path, add, again, sounds } = await threeSounds(sql);
    await rm(path('a.wav'));
    await add({ '@/d.wav': tone() });
    expect((await again()).stdout).toContain('1 made, 0 updated');
    const [added, ...others] = await sounds();
    expect([added?.['title'], others]).toEqual(['D', before]);
  });

  test('keeps changes made in the dashboard, and updates the other fields', async ({ sql }) => {
    const { edit, add, again, sounds } = await threeSounds(sql);
    const other = await addCategory(sql);
    await edit('A', { title: 'Renamed' });
    await edit('B', { category: other, cover_image_path: 'mine.jpg' });
    await add({ '@/a.jpg': await picture(), '@/b.jpg': await picture() });
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toContain('0 new, 1 to update, 1 unchanged, 2 left alone, 0 rejected; 2 files to upload');
    expect(stdout).toContain('0 made, 1 updated, 1 unchanged, 2 left alone, 0 rejected.');
    expect(stdout).toMatch(/updated +\S+a.wav +picture\n/);
    expect(stdout).toMatch(/left alone +\S+a.wav +title: changed in the dashboard/);
    expect(stdout).toMatch(/left alone +\S+b.wav +(picture, category|category, picture): changed/);
    expect(await soundsIn(sql, other)).toMatchObject([{ title: 'B', cover_image_path: 'mine.jpg' }]);
    expect((await sounds()).find(({ title }) => title === 'Renamed')?.['cover_version']).not.toBeNull();
    expect((await again()).stdout).toContain('0 new, 0 to update, 1 unchanged, 2 left alone');
  });

  test('replaces changes of the dashboard with --overwrite, but no fields that the folder lacks', async ({
    sql,
  }) => {
    const { before, edit, again, sounds } = await threeSounds(sql);
    await edit('A', { title: 'Renamed', cover_image_path: 'mine.jpg', bowl_note: 'F3' });
    expect((await again('--overwrite')).stdout).toContain('0 made, 1 updated, 2 unchanged, 0 left alone');
    const cover_image_path = before[0]?.['cover_image_path'];
    expect((await sounds())[0]).toMatchObject({ title: 'A', cover_image_path, bowl_note: 'F3' });
  });

  test('counts a sound as unchanged that the dashboard and the folder changed alike', async ({ sql }) => {
    const { edit, add, again } = await threeSounds(sql);
    await edit('A', { title: 'Renamed' });
    await add({ 'sounds.csv': 'file,title\n@/a.wav,Renamed\n' });
    expect((await again()).stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected');
    await edit('Renamed', { title: 'Again' });
    expect((await again()).stdout).toContain('title: changed in the dashboard');
  });

  test('restores a sound that was deleted in the dashboard only with --overwrite', async ({ sql }) => {
    const { category, again, titles } = await threeSounds(sql);
    await sql`delete from public.sounds where category = ${category} and title = 'B'`;
    const { code, stdout } = await again();
    expect([code, await titles()]).toEqual([0, ['A', 'C']]);
    expect(stdout).toMatch(/left alone +\S+b.wav +deleted in the dashboard/);
    await again('--overwrite');
    expect((await titles()).sort()).toEqual(['A', 'B', 'C']);
  });

  test('uploads a file again that is gone from Storage', async ({ sql }) => {
    const { before, again, sounds } = await threeSounds(sql);
    await sql.begin(async (transaction) => {
      await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
      await transaction`delete from storage.objects where name = ${before[0]?.['audio_path']}`;
    });
    expect((await again()).stdout).toContain('recording, missing from Storage');
    expect((await sounds()).filter(({ audio_version }) => audio_version === null)).toEqual([]);
  });

  test('recognizes a sound that was made by hand for a recording of the same name', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(0.3) });
    const byHand = { title: 'By hand', audio_path: `${category}/a.wav` };
    const id = await addSound(sql, { ...byHand, category });
    const { stdout } = await importFolder(folder);
    expect(stdout).toMatch(/left alone +\S+a.wav +(title, recording|recording, title): changed/);
    expect(await soundsIn(sql, category)).toMatchObject([{ id, ...byHand }]);
  });

  test('follows a category whose slug was changed', async ({ sql }) => {
    const { category, again } = await threeSounds(sql);
    const renamed = `${category}-renamed`;
    await sql`update public.categories set slug = ${renamed} where slug = ${category}`;
    expect((await again()).stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected');
    expect(await soundsIn(sql, renamed)).toHaveLength(3);
  });
});
