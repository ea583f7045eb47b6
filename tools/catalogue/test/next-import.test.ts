import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, addSound } from '../../../test/support/catalogue.ts';
import { type Sql, test } from '../../../test/support/test.ts';
import { addFiles, importFolder, makeFolder, picture, soundsIn } from './folder.ts';

/** Makes a folder of three sounds with pictures, and imports it. */
async function importedFolder(sql: Sql) {
  const category = await addCategory(sql);
  const files: Record<string, Buffer> = {};
  for (const name of ['a', 'b', 'c']) {
    files[`${category}/${name}.wav`] = tone();
    files[`${category}/${name}.jpg`] = await picture();
  }
  const folder = await makeFolder(files);
  const { code, stderr } = await importFolder(folder);
  expect([code, stderr]).toEqual([0, '']);
  const before = await soundsIn(sql, category);
  expect(before).toHaveLength(3);
  return { category, folder, before };
}

const edit = (sql: Sql, category: string, title: string, changes: object) =>
  sql`update public.sounds set ${sql(changes as Record<string, string>)} where category = ${category} and title = ${title}`;

describe('the next import', () => {
  test('of the same folder does nothing', async ({ sql }) => {
    const { category, folder, before } = await importedFolder(sql);
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect(stdout).toContain('0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
    // Neither a row nor a file was written again.
    expect(await soundsIn(sql, category)).toEqual(before);
  });

  test('from another place knows what the first one did', async ({ sql }) => {
    const { category, folder, before } = await importedFolder(sql);
    const elsewhere = `${folder}-${randomUUID()}`;
    await rename(folder, elsewhere);
    await importFolder(elsewhere);
    await rm(elsewhere, { recursive: true });
    expect(await soundsIn(sql, category)).toEqual(before);
  });

  test('uploads a changed recording under a new name, and makes its sound play that', async ({ sql }) => {
    const { category, folder, before } = await importedFolder(sql);
    await addFiles(folder, { [`${category}/a.wav`]: tone(0.5) });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`updated +${category}/a.wav +(length, recording|recording, length)\n`));
    const after = await soundsIn(sql, category);
    expect(after.slice(1)).toEqual(before.slice(1));
    expect(after[0]).toMatchObject({ id: before[0]?.['id'], duration_sec: '0.5', title: 'A' });
    expect(after[0]?.['audio_path']).not.toBe(before[0]?.['audio_path']);
    expect(after[0]?.['audio_version']).not.toBeNull();
    // Whoever is listening to the old one may go on.
    const [old] =
      await sql`select from storage.objects where bucket_id = 'audio' and name = ${before[0]?.['audio_path']}`;
    expect(old).toBeDefined();
  });

  test('adds what is new, and deletes nothing that is gone from the folder', async ({ sql }) => {
    const { category, folder, before } = await importedFolder(sql);
    await rm(join(folder, category, 'a.wav'));
    await addFiles(folder, { [`${category}/d.wav`]: tone() });
    const { stdout } = await importFolder(folder);
    expect(stdout).toContain('1 made, 0 updated');
    const after = await soundsIn(sql, category);
    expect(after.map(({ title }) => title)).toEqual(['D', 'A', 'B', 'C']);
    expect(after.slice(1)).toEqual(before);
  });

  test('keeps what was changed in the dashboard, says so, and changes the rest', async ({ sql }) => {
    const { category, folder } = await importedFolder(sql);
    const other = await addCategory(sql);
    await edit(sql, category, 'A', { title: 'Renamed' });
    await edit(sql, category, 'B', { category: other, cover_image_path: 'mine.jpg' });
    await addFiles(folder, {
      [`${category}/a.jpg`]: await picture(),
      [`${category}/b.jpg`]: await picture(),
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    // The plan and the outcome count alike.
    expect(stdout).toContain('0 new, 1 to update, 1 unchanged, 2 left alone, 0 rejected; 2 files to upload');
    expect(stdout).toContain('0 made, 1 updated, 1 unchanged, 2 left alone, 0 rejected.');
    expect(stdout).toMatch(new RegExp(`updated +${category}/a.wav +picture\n`));
    expect(stdout).toMatch(new RegExp(`left alone +${category}/a.wav +title: changed in the dashboard`));
    expect(stdout).toMatch(
      new RegExp(`left alone +${category}/b.wav +(picture, category|category, picture): changed`),
    );
    expect(await soundsIn(sql, other)).toMatchObject([{ title: 'B', cover_image_path: 'mine.jpg' }]);
    const kept = (await soundsIn(sql, category)).find(({ title }) => title === 'Renamed');
    expect(kept?.['cover_version']).not.toBeNull();
    // And so it stays, also where the folder has changed before.
    expect((await importFolder(folder)).stdout).toContain('0 new, 0 to update, 1 unchanged, 2 left alone');
  });

  test('takes from the folder what was changed in the dashboard when it is told to overwrite', async ({
    sql,
  }) => {
    const { category, folder, before } = await importedFolder(sql);
    await edit(sql, category, 'A', { title: 'Renamed', cover_image_path: 'mine.jpg', bowl_note: 'F3' });
    const { stdout } = await importFolder(folder, '--overwrite');
    expect(stdout).toContain('0 made, 1 updated, 2 unchanged, 0 left alone, 0 rejected.');
    const [after] = await soundsIn(sql, category);
    // What the folder says nothing about stays as it is.
    expect(after).toMatchObject({
      title: 'A',
      cover_image_path: before[0]?.['cover_image_path'],
      bowl_note: 'F3',
    });
  });

  test('counts a sound as unchanged that the dashboard and the folder changed alike', async ({ sql }) => {
    const { category, folder } = await importedFolder(sql);
    await edit(sql, category, 'A', { title: 'Renamed' });
    await addFiles(folder, { 'sounds.csv': `file,title\n${category}/a.wav,Renamed\n` });
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/\n0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected; [^\n]+\n$/),
    ]);
    await edit(sql, category, 'Renamed', { title: 'Again' });
    expect((await importFolder(folder)).stdout).toContain('title: changed in the dashboard');
  });

  test('does not bring back a sound that was deleted in the dashboard, unless it is told to overwrite', async ({
    sql,
  }) => {
    const { category, folder } = await importedFolder(sql);
    await sql`delete from public.sounds where category = ${category} and title = 'B'`;
    const titles = async () => (await soundsIn(sql, category)).map(({ title }) => title).sort();
    const { code, stdout } = await importFolder(folder);
    expect([code, await titles()]).toEqual([0, ['A', 'C']]);
    expect(stdout).toMatch(new RegExp(`left alone +${category}/b.wav +deleted in the dashboard`));
    await importFolder(folder, '--overwrite');
    expect(await titles()).toEqual(['A', 'B', 'C']);
  });

  test('uploads again what is gone from Storage', async ({ sql }) => {
    const { category, folder, before } = await importedFolder(sql);
    await sql.begin(async (transaction) => {
      await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
      await transaction`delete from storage.objects where name = ${before[0]?.['audio_path']}`;
    });
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('recording, missing from Storage')]);
    expect((await soundsIn(sql, category)).filter(({ audio_version }) => audio_version === null)).toEqual([]);
  });

  test('takes a sound that was made by hand, of a recording of the same name, for its own', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone(0.3) });
    const id = await addSound(sql, { title: 'By hand', category, audio_path: `${category}/a.wav` });
    const { stdout } = await importFolder(folder);
    expect(stdout).toMatch(
      new RegExp(`left alone +${category}/a.wav +(title, recording|recording, title): changed`),
    );
    expect(await soundsIn(sql, category)).toMatchObject([
      { id, title: 'By hand', audio_path: `${category}/a.wav` },
    ]);
  });

  test('follows a category whose slug was changed', async ({ sql }) => {
    const { category, folder } = await importedFolder(sql);
    const renamed = await addCategory(sql);
    await sql`delete from public.categories where slug = ${renamed}`;
    await sql`update public.categories set slug = ${renamed} where slug = ${category}`;
    expect((await importFolder(folder)).stdout).toContain(
      '0 new, 0 to update, 3 unchanged, 0 left alone, 0 rejected',
    );
    expect(await soundsIn(sql, renamed)).toHaveLength(3);
  });
});
