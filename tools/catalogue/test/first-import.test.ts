import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { encode, ffmpeg, importFolder, makeFolder, picture, soundsIn, startImport } from './folder.ts';

describe('a first import', () => {
  test('makes a sound of each format with the title, comment, picture and measured length in the file', async ({
    sql,
    skip,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
    const category = await addCategory(sql);
    const folder = await makeFolder({ 'cover-source.jpg': await picture() });
    const tags = ['-metadata', 'title=Deep bowl', '-metadata', 'comment=Struck once'];
    const types = {
      mp3: 'audio/mpeg',
      m4a: 'audio/mp4',
      ogg: 'audio/ogg',
      flac: 'audio/x-flac',
      opus: 'audio/ogg',
      wav: 'audio/wav',
    };
    for (const extension of Object.keys(types)) {
      const withPicture = ['mp3', 'm4a', 'flac'].includes(extension);
      const cover = ['-i', `${folder}/cover-source.jpg`, '-map', '0', '-map', '1', '-c:v', 'copy'];
      const args = withPicture ? [...cover, '-disposition:v:0', 'attached_pic', ...tags] : tags;
      await encode(folder, `${category}/bowl.${extension}`, tone(3.2), args);
    }
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('6 made, 0 updated, 0 unchanged, 0 left alone, 0 rejected.'),
    ]);
    const sounds = await soundsIn(sql, category);
    expect(
      new Map(sounds.map((sound) => [sound['audio_path'].split('.').at(-1), sound['audio_type']])),
    ).toEqual(new Map(Object.entries(types)));
    for (const { title, description, duration_sec, cover_image_path, cover_version, audio_path } of sounds) {
      const extension = audio_path.split('.').at(-1);
      expect([title, description], extension).toEqual(['Deep bowl', 'Struck once']);
      // Some encoders fill up their last block with silence.
      expect(Math.abs(Number(duration_sec) - 3.2), extension).toBeLessThan(0.1);
      if (['mp3', 'm4a', 'flac'].includes(extension)) {
        expect(cover_image_path, extension).toMatch(new RegExp(`^${category}/cover-[0-9a-f]{12}\\.jpg$`));
        expect(cover_version, extension).not.toBeNull();
      } else expect(cover_image_path, extension).toBeNull();
    }
    // The same picture in three files is one in Storage.
    expect(new Set(sounds.map(({ cover_image_path }) => cover_image_path)).size).toBe(2);
  });

  test('measures the length of a recording whose rate varies and whose header does not say it', async ({
    sql,
    skip,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
    const category = await addCategory(sql);
    const folder = await makeFolder({});
    const silence = Buffer.concat([tone(1), Buffer.alloc(2 * 24_000 * 9)]);
    silence.writeUInt32LE(silence.length - 8, 4);
    silence.writeUInt32LE(silence.length - 44, 40);
    await encode(folder, `${category}/a.mp3`, silence, ['-q:a', '0', '-write_xing', '0']);
    await importFolder(folder);
    const [sound] = await soundsIn(sql, category);
    expect(Math.abs(Number(sound?.['duration_sec']) - 10)).toBeLessThan(0.1);
  });

  test('takes the title from the name, the picture from beside the file, else the cover of its folder', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/01 - deep_bowl.wav`]: tone(),
      [`${category}/Rain & Wind #2.WAV`]: tone(),
      [`${category}/Rain & Wind #2.png`]: await picture('png'),
      [`${category}/Cover.jpeg`]: await picture(),
      [`${category}/Ünïcode/ärger 雨.wav`]: tone(),
      [`${category}/.hidden.wav`]: tone(),
      [`${category}/notes.txt`]: 'not audio',
    });
    expect((await importFolder(folder)).code).toBe(0);
    const sounds = await soundsIn(sql, category);
    const shortened = sounds.map(({ title, audio_path, cover_image_path, cover_version }) => [
      title,
      audio_path.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c'),
      cover_image_path?.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c') ?? null,
      cover_version !== null,
    ]);
    // The order of the folder is the order of lists.
    expect(shortened).toEqual([
      ['Deep bowl', 'c/01-deep-bowl-x.wav', 'c/cover-x.jpeg', true],
      ['Rain & Wind #2', 'c/rain-and-wind-2-x.wav', 'c/cover-x.png', true],
      ['Ärger 雨', 'c/uenicode/aerger-x.wav', null, false],
    ]);
  });

  test('lists sounds in the order of the folder also where moments are taken by other sounds', async ({
    sql,
  }) => {
    const [category, other] = [await addCategory(sql), await addCategory(sql)];
    const titles = Array.from({ length: 12 }, (_, index) => `Bowl ${index + 1}`);
    const folder = await makeFolder(
      Object.fromEntries(titles.map((title) => [`${category}/${title}.wav`, tone()])),
    );
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Taken', ${other}, now() + make_interval(secs => 0.003 * number) from generate_series(1, 1000) as number`;
    await importFolder(folder);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(titles);
  });

  test('finds the category by slug or name of the first folder, and says where it finds none', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`CATEGORY ${category}/deeper/b.wav`]: tone(),
      [`unknown ${category}/c.wav`]: tone(),
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect((await soundsIn(sql, category)).map(({ title }) => title).sort()).toEqual(['A', 'B']);
    expect(stdout).toContain(`No category: there is none with the slug or name "unknown ${category}".`);
  });

  test('keeps files apart whose names become the same', async ({ sql }) => {
    const category = await addCategory(sql);
    const names = ['a b', 'a-b', 'A B', 'a_b', 'ä b', '雨', '雪'];
    const files = Object.fromEntries(names.map((name) => [`${category}/${name}.wav`, tone()]));
    expect((await importFolder(await makeFolder(files))).code).toBe(0);
    const sounds = await soundsIn(sql, category);
    expect(new Set(sounds.map(({ audio_path }) => audio_path)).size).toBe(names.length);
    expect(sounds.filter(({ audio_version }) => audio_version === null)).toEqual([]);
  });

  test('makes one sound of a recording that is there twice, and names the copy', async ({ sql }) => {
    const category = await addCategory(sql);
    const recording = tone();
    const folder = await makeFolder({ [`${category}/a.wav`]: recording, [`${category}/b.wav`]: recording });
    for (const run of ['first', 'next']) {
      const { code, stdout } = await importFolder(folder);
      expect([code, stdout], run).toEqual([
        0,
        expect.stringMatching(
          new RegExp(`note +${category}/b\\.wav +A copy of ${category}/a\\.wav: not imported\\.`),
        ),
      ]);
      expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['A']);
    }
  });

  test('imports from folders that are named like the buckets', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      'audio/a.wav': tone(),
      'audio/covers/b.wav': tone(),
      'sounds.csv': `file,category\naudio/a.wav,${category}\naudio/covers/b.wav,${category}\n`,
    });
    expect(await importFolder(folder)).toMatchObject({ code: 0, stderr: '' });
    expect((await soundsIn(sql, category)).map(({ audio_path }) => audio_path)).toEqual([
      expect.stringMatching(/^audio\/a-/),
      expect.stringMatching(/^audio\/covers\/b-/),
    ]);
  });

  test('takes a symbolic link for a copy of its original, whatever their names', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/z.wav`]: tone() });
    await symlink('z.wav', join(folder, category, 'a.wav'));
    for (const run of ['first', 'next']) {
      const { stdout } = await importFolder(folder);
      expect(stdout, run).toMatch(/note +\S+a\.wav +A copy of \S+z\.wav: not imported\./);
      expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['Z']);
    }
  });

  test('makes inactive sounds with --hidden, which stay as the dashboard sets them', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
    await importFolder(folder, '--hidden');
    const isActive = async () => (await soundsIn(sql, category))[0]?.['is_active'];
    expect(await isActive()).toBe(false);
    await importFolder(folder);
    expect(await isActive()).toBe(false);
    await sql`update public.sounds set is_active = true where category = ${category}`;
    const { stdout } = await importFolder(folder, '--hidden');
    expect(stdout).toContain('0 new, 0 to update, 1 unchanged');
    expect(await isActive()).toBe(true);
  });

  test('shows what it would do, and does nothing, with --dry-run or when there is nobody to ask', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/a.wav`]: tone() });
    const dry = startImport([folder, '--dry-run']);
    expect(await dry.exited).toBe(0);
    expect(dry.output.stdout).toMatch(new RegExp(`new +${category}/a.wav +A \\(${category}\\)\\n`));
    expect(dry.output.stdout).toContain(
      '1 new, 0 to update, 0 unchanged, 0 left alone, 0 rejected; 1 file to upload',
    );
    const unasked = startImport([folder]);
    expect(await unasked.exited).toBe(1);
    expect(unasked.output.stderr).toMatch(/^There is no terminal to confirm in\. [^\n]+\n$/);
    expect(await soundsIn(sql, category)).toEqual([]);
    expect(await sql`select from storage.objects where name like ${`${category}/%`}`).toEqual([]);
  });
});
