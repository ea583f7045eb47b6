import { copyFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createClient } from '@supabase/supabase-js';
import { expect, inject } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, newSlug } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { test } from '../../../test/support/test.ts';
import { avoidTakenNames } from '../identify/identify.ts';
import { type Imported, newRecord } from '../project/catalogue.ts';
import { createMeasurements } from '../project/measurements.ts';
import type { Sound } from '../shared/sound.ts';
import { mp3With, picture, song, titled } from './files.ts';
import { addFiles, hideFfmpeg, imported, importFolder, makeFolder, readFiles, titlesOf } from './folder.ts';

hideFfmpeg();

test('an import of a subfolder, or of another folder with --source, updates the same sounds', async ({ sql }) => {
  const files = { '@/a.wav': tone(), '@/b.wav': tone() };
  const { category, folder, sounds } = await imported(sql, files);
  const [a, b] = (await sounds()).map(({ id }) => id);
  const below = await importFolder(join(folder, category));
  expect(below.stdout).toMatch(/note +2 sounds +known from "/);
  expect(below.stdout).toContain('0 new, 0 to update, 2 unchanged');
  await addFiles(folder, { [`${category}/b.wav`]: tone(0.4) });
  await importFolder(join(folder, category));
  await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.5) }), '--source', basename(folder));
  await importFolder(await makeFolder({ [`${category}/a.wav`]: tone(0.6) }));
  const lengths = (await sounds()).map(({ id, duration_sec }) => `${id} ${duration_sec}`);
  expect(lengths).toEqual([expect.stringMatching(/ 0\.6$/), `${a} 0.5`, `${b} 0.4`]);
});

test('recording and title both change only with --overwrite, or if the title was a file name', async ({ sql }) => {
  const files = { '@/a.mp3': titled('Deep bowl 1'), '@/b.wav': tone(), '@/bowl.mp3': mp3With([]) };
  const { path, next, sounds } = await imported(sql, files);
  const [before] = await sounds();
  await rm(path('b.wav'));
  const others = { '@/b.mp3': titled('Rain'), '@/bowl.mp3': titled('Deep bowl 2') };
  const { code, stdout } = await next({ '@/a.mp3': titled('Gong'), ...others });
  expect(code).toBe(1);
  for (const line of [
    /held back +\S+a\.mp3 +"Deep bowl 1" would become "Gong", with another recording; --overwrite/,
    /update +\S+bowl\.mp3 +"Bowl" becomes "Deep bowl 2", recording/,
    /note +\S+b\.wav +No longer in the folder\. Its sound "B" is kept\./,
    /1 new, 1 to update, 0 unchanged, 0 left alone, 1 held back, 0 rejected/,
  ])
    expect(stdout).toMatch(line);
  expect((await sounds()).find(({ id }) => id === before?.['id'])).toEqual(before);
  const overwriting = await next({}, '--overwrite');
  expect(overwriting.code).toBe(0);
  expect(overwriting.stdout).toMatch(/update +\S+a\.mp3 +"Deep bowl 1" becomes "Gong", recording/);
});

test('a renamed or moved file keeps its sound, and copies and links are left out', async ({ sql }) => {
  const other = await addCategory(sql);
  const [recording, unknown] = [tone(), tone()];
  const files = { '@/a.wav': recording, '@/b.wav': tone(), '@/c.wav': tone() };
  const { category, folder, path, next, sounds } = await imported(sql, files);
  const before = await sounds();
  await rename(path('a.wav'), path('gong.wav'));
  await symlink('gong.wav', path('a.wav'));
  await addFiles(folder, { [`${other}/x.wav`]: tone() });
  await rename(path('b.wav'), join(folder, other, 'b.wav'));
  await rm(path('c.wav'));
  const copies = { '@/hum.wav': recording, '@/new.wav': unknown, '@/new copy.wav': unknown };
  const dry = await next(copies, '--dry-run');
  expect([dry.code, await sounds()]).toEqual([0, before]);
  expect(await sql`select from storage.objects where name like ${`${category}/new%`}`).toEqual([]);
  for (const line of [
    /update +\S+gong\.wav +"A" becomes "Gong"\n/,
    /moved +\S+gong\.wav +was \S+a\.wav\n/,
    /moved +\S+\/b\.wav +was \S+\/b\.wav\n/,
    /note +\S+\/a\.wav +Not imported: it is a copy of \S+\.wav\.\n/,
    /note +\S+hum\.wav +Not imported: it is a copy of \S+gong\.wav\.\n/,
    /note +\S+new\.wav +Not imported: it is a copy of \S+new copy\.wav\.\n/,
    /note +\S+c\.wav +No longer in the folder\. Its sound "C" is kept\.\n/,
    /2 new, 2 to update, 0 unchanged, 0 left alone, 0 rejected; 2 files/,
  ])
    expect(dry.stdout).toMatch(line);
  await next();
  const [a, b, c] = before.map(({ id, audio_path }) => ({ id, audio_path }));
  const after = await sql`
    select id, title, category, audio_path from public.sounds
    where id in ${sql(before.map(({ id }) => id))} order by title`;
  const [moved, renamed] = [
    { ...b, title: 'B', category: other },
    { ...a, title: 'Gong', category },
  ];
  expect(after).toEqual([moved, { ...c, title: 'C', category }, renamed]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 4 unchanged');
});

const timeout = 60_000; // encodes recordings and imports them several times
test('an import recognizes a sound by its audio, whatever its tags, name and folder', {
  tags: ['ffmpeg'],
  timeout,
}, async ({ sql }) => {
  const numbers = ['@/1.wav', '@/2.wav', '@/3.wav'].map((name) => [name, tone()] as const);
  const { path, next, sounds } = await imported(sql, {
    ...Object.fromEntries(numbers),
    '@/song.mp3': song('Deep bowl 1'),
  });
  const before = await sounds();
  const idOf = new Map(before.map(({ title, id }) => [title, id]));
  const files = async () => new Map((await sounds()).map(({ id, audio_version }) => [id, audio_version]));
  const versions = await files();
  // Correct only the title.
  const retagged = await next({ '@/song.mp3': song('Deep bowl 2') });
  expect(retagged.stdout).toMatch(/update +\S+song\.mp3 +"Deep bowl 1" becomes "Deep bowl 2"\n/);
  expect(retagged.stdout).toContain('; 0 files to upload');
  // Correct title and name, as music managers do, and add a copy with other tags.
  await rm(path('song.mp3'));
  const renamed = await next({ '@/Gong.mp3': song('Gong'), '@/gong.mp3': song('Another gong') });
  expect(renamed.code).toBe(0);
  expect(renamed.stdout).toMatch(
    /note +\S+gong\.mp3 +Not imported: it is the same recording as \S+gong\.mp3, with other tags/i,
  );
  // Number three recordings anew, because there is a new one.
  await rename(path('3.wav'), path('4.wav'));
  await rename(path('2.wav'), path('3.wav'));
  const numbered = await next({ '@/2.wav': tone() });
  for (const line of [/moved +\S+3\.wav +was \S+2\.wav/, /moved +\S+4\.wav +was \S+3\.wav/, /new +\S+2\.wav/])
    expect(numbered.stdout).toMatch(line);
  const after = await sounds();
  const idsAfter = Object.fromEntries(after.map(({ title, id }) => [title, id]));
  expect(idsAfter).toMatchObject({ 1: idOf.get('1'), 3: idOf.get('2'), 4: idOf.get('3') });
  expect([after.length, [...idOf.values()]]).toEqual([5, expect.not.arrayContaining([idsAfter['2']])]);
  for (const [id, version] of versions) expect((await files()).get(id)).toBe(version);
  // A known recording at the place of another one stays the same sound.
  await copyFile(path('1.wav'), path('2.wav'));
  const replaced = await next();
  expect(replaced.stdout).toMatch(/note +\S+2\.wav +Not imported: it is a copy of \S+1\.wav/);
  expect(replaced.stdout).toMatch(/note +\S+2\.wav +No longer in the folder\. Its sound "2" is kept\./);
  expect(await sounds()).toEqual(after);
});

test('a recording that is in iCloud only has a note, and its sound is not reported as gone', async ({ sql }) => {
  const files = { '@/a.wav': tone(), '@/b.wav': tone(), '@/cover.jpg': await picture() };
  const { path, next, sounds } = await imported(sql, { ...files, 'sounds.csv': 'file,key,title\n@/a.wav,x,Rain\n' });
  const before = await sounds();
  for (const name of ['a.wav', 'b.wav', 'cover.jpg']) await rename(path(name), path(`.${name}.icloud`));
  const { code, stdout } = await next({ '@/c.wav': tone() });
  expect(code).toBe(0);
  for (const name of ['a.wav', 'b.wav', 'cover.jpg'])
    expect(stdout).toMatch(
      new RegExp(`note +\\S+/${name} +Not read: it is in iCloud only\\. Download it in the Finder`),
    );
  expect(stdout).not.toContain('No longer in the folder');
  expect((await sounds()).slice(1)).toEqual(before);
  const reading = readFiles({ '.Sounds.csv.icloud': '', 'a.wav': tone() });
  await expect(reading).rejects.toThrow(/^Sounds\.csv is in iCloud only\. Download it/);
});

test('keys distinguish sounds that share a recording or have none', async ({ sql }) => {
  const sheet = (name: string, key: string, title: string) =>
    `file,key,title,category\n@/${name},${key},First,\n@/${name},short,${title},@\n,,Silence,@\n,,Nothing yet,@\n`;
  const files = { '@/a.wav': tone(), 'sounds.csv': sheet('a.wav', '', 'Second') };
  const { path, next, sounds } = await imported(sql, files);
  const before = await sounds();
  expect(titlesOf(before)).toEqual(['First', 'Second', 'Silence', 'Nothing yet']);
  const stored = { audio_path: before[0]?.['audio_path'], audio_version: expect.any(String) };
  expect(before).toMatchObject([stored, stored, { audio_path: null }, { audio_path: null }]);
  await rename(path('a.wav'), path('b.wav'));
  const { stdout } = await next({ 'sounds.csv': sheet('b.wav', 'long', 'Shorter') });
  expect(stdout).toContain('0 new, 1 to update, 3 unchanged, 0 left alone, 0 rejected; 0 files to upload');
  const after = await sounds();
  expect([after.map(({ id }) => id), titlesOf(after)[1]]).toEqual([before.map(({ id }) => id), 'Shorter']);
});

test('a file in Storage with the same name but other content is neither used nor replaced', async () => {
  const { sounds } = await readFiles({ 'a.wav': tone(), 'cover.jpg': await picture() });
  const [audioPath, coverPath] = [`${newSlug()}/a.wav`, `${newSlug()}/cover.jpg`]; // names without a checksum
  for (const sound of sounds) {
    const { audio, picture } = sound;
    if (audio)
      sound.audio = { ...audio, path: await storeFile('audio', audioPath, audio.type, 'x'.repeat(audio.size)) };
    if (picture) sound.picture = { ...picture, path: await storeFile('covers', coverPath, picture.type) };
  }
  const { apiUrl, secretKey } = inject('stack');
  const stored = new Map([`audio/${audioPath}`, `covers/${coverPath}`].map((name) => [name, {}]));
  const pathsAfter = async (known: Map<Sound, Imported>) => {
    await avoidTakenNames(
      createClient(apiUrl, secretKey),
      sounds,
      stored,
      { known },
      { measurements: createMeasurements() },
    );
    return sounds.flatMap(({ audio, picture }) => [audio?.path, picture?.path]);
  };
  // A recording that an import has stored may have been replaced in the dashboard.
  const checksum = sounds[0]?.audio?.checksum ?? null;
  const record = { ...newRecord('id'), checksum, fields: { audio_path: audioPath } };
  const known = new Map(sounds.map((sound) => [sound, record]));
  expect(await pathsAfter(known)).toEqual([audioPath, expect.stringMatching(/cover-[0-9a-f]{12}.jpg$/)]);
  expect(await pathsAfter(new Map())).toEqual([
    expect.stringMatching(/a-[0-9a-f]{12}.wav$/),
    expect.stringMatching(/cover-[0-9a-f]{12}.jpg$/),
  ]);
});
