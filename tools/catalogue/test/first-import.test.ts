import { symlink } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory, newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import {
  encode,
  ffmpeg,
  imported,
  importFolder,
  makeFolder,
  picture,
  soundsIn,
  startImport,
} from './folder.ts';

describe('a first import', () => {
  test('makes sounds of all formats with the title, comment and picture in the file', async ({
    sql,
    skip,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
    const category = await addCategory(sql);
    const folder = await makeFolder({ 'cover-source.jpg': await picture() });
    const tags = ['-metadata', 'title=Deep bowl', '-metadata', 'comment=Struck once'];
    const types: Record<string, string> = {
      mp3: 'audio/mpeg',
      m4a: 'audio/mp4',
      flac: 'audio/x-flac',
      ogg: 'audio/ogg',
      opus: 'audio/ogg',
      wav: 'audio/wav',
    };
    const withPicture = ['mp3', 'm4a', 'flac'];
    const cover = ['-i', `${folder}/cover-source.jpg`, '-map', '0', '-map', '1', '-c:v', 'copy'];
    for (const extension of Object.keys(types)) {
      const args = withPicture.includes(extension)
        ? [...cover, '-disposition:v:0', 'attached_pic', ...tags]
        : tags;
      await encode(folder, `${category}/bowl.${extension}`, tone(1), args);
    }
    const { code, stdout } = await importFolder(folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('6 made, 0 updated, 0 unchanged')]);
    expect(stdout).toMatch(/note +2 files +iPhones do not play Ogg, Opus and WebM\./);
    const sounds = await soundsIn(sql, category);
    for (const { title, description, cover_image_path, cover_version, audio_path, audio_type } of sounds) {
      const extension = audio_path.split('.').at(-1);
      expect([title, description, audio_type], extension).toEqual([
        'Deep bowl',
        'Struck once',
        types[extension],
      ]);
      expect([cover_image_path, cover_version], extension).toEqual(
        withPicture.includes(extension)
          ? [expect.stringMatching(new RegExp(`^${category}/cover-[0-9a-f]{12}\\.jpg$`)), expect.any(String)]
          : [null, null],
      );
    }
    // The same picture in three files is stored once.
    expect(new Set(sounds.map(({ cover_image_path }) => cover_image_path)).size).toBe(2);
  });

  test('takes the title from the name, and the picture from beside the file or the folder', async ({
    sql,
  }) => {
    const { code, category, sounds } = await imported(sql, {
      '@/01 - deep_bowl.wav': tone(),
      '@/Rain & Wind #2.WAV': tone(),
      '@/Rain & Wind #2.png': await picture('png'),
      '@/Cover.jpeg': await picture(),
      '@/Ünïcode/ärger 雨.wav': tone(),
      '@/.hidden.wav': tone(),
    });
    expect(code).toBe(0);
    const short = (path: string | null) => path?.replace(/[0-9a-f]{12}/, 'x').replace(category, 'c') ?? null;
    const found = (await sounds()).map(({ title, audio_path, cover_image_path, cover_version }) => [
      title,
      short(audio_path),
      short(cover_image_path),
      cover_version !== null,
    ]);
    expect(found).toEqual([
      ['Deep bowl', 'c/01-deep-bowl-x.wav', 'c/cover-x.jpeg', true],
      ['Rain & Wind #2', 'c/rain-and-wind-2-x.wav', 'c/cover-x.png', true],
      ['Ärger 雨', 'c/uenicode/aerger-x.wav', null, false],
    ]);
  });

  test('lists sounds in the order of the folder although other sounds have their times', async ({ sql }) => {
    const other = await addCategory(sql);
    const names = Array.from({ length: 12 }, (_, index) => `Bowl ${index + 1}`);
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Taken', ${other}, now() + make_interval(secs => 0.003 * number) from generate_series(1, 1000) as number`;
    const { titles } = await imported(
      sql,
      Object.fromEntries(names.map((name) => [`@/${name}.wav`, tone()])),
    );
    expect(await titles()).toEqual(names);
  });

  test('finds the category by the slug or name of the first folder, or has a note', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`CATEGORY ${category}/deeper/b.wav`]: tone(),
      [`unknown ${category}/c.wav`]: tone(),
      [`unknown ${category}/d.wav`]: tone(),
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(0);
    expect((await soundsIn(sql, category)).map(({ title }) => title).sort()).toEqual(['A', 'B']);
    expect(stdout).toMatch(
      /note +unknown \S+\/ \(2 files\) +No category: there is none with the slug or name/,
    );
  });

  test('makes intentions and sub-intentions of folders with --make-categories', async ({ sql }) => {
    const name = `Rain ${newSlug('on')}`;
    const [slug, sub] = [name.toLowerCase().replace(' ', '-'), newSlug('roofs')];
    const names = [`${name}/a.wav`, `${name}/${sub}/b.wav`, `${name}/${sub}/deeper/c.wav`];
    const folder = await makeFolder(Object.fromEntries(names.map((file) => [file, tone()])));
    const dry = await importFolder(folder, '--make-categories', '--dry-run');
    expect(dry.stdout).toMatch(new RegExp(`new +${slug} +category "${slug}"`));
    expect(await sql`select from public.categories where slug = ${slug}`).toEqual([]);
    expect((await importFolder(folder, '--make-categories')).code).toBe(0);
    const [below] = await sql`
      select sub.name, top.name as parent from public.categories as sub
        join public.categories as top on top.id = sub.parent_id where sub.slug = ${sub} and top.slug = ${slug}`;
    expect(below).toEqual({ name: sub, parent: name });
    await importFolder(await makeFolder({ [`${name}/${sub}/d.wav`]: tone() }));
    await importFolder(await makeFolder({ [`${sub}/e.wav`]: tone() }), '--make-categories');
    expect((await soundsIn(sql, slug)).map(({ title }) => title)).toEqual(['A']);
    expect((await soundsIn(sql, sub)).map(({ title }) => title)).toEqual(['E', 'D', 'B', 'C']);
  });

  test('keeps files apart whose stored names would be the same', async ({ sql }) => {
    const names = ['a b', 'a-b', 'A B', 'a_b', 'ä b', '雨', '雪'];
    const { sounds } = await imported(
      sql,
      Object.fromEntries(names.map((name) => [`@/${name}.wav`, tone()])),
    );
    const paths = (await sounds()).map(({ audio_path, audio_version }) => audio_version && audio_path);
    expect(new Set(paths.filter(Boolean)).size).toBe(names.length);
  });

  test('makes one sound of two equal recordings, and of a link and its original', async ({ sql }) => {
    const recording = tone();
    const { again, path, titles } = await imported(sql, {
      '@/a.wav': recording,
      '@/b.wav': recording,
      '@/z.wav': tone(),
    });
    await symlink('z.wav', path('c.wav'));
    const { code, stdout } = await again();
    expect(code).toBe(0);
    expect(stdout).toMatch(/note +\S+\/b\.wav +A copy of \S+\/a\.wav: not imported\./);
    expect(stdout).toMatch(/note +\S+\/c\.wav +A copy of \S+\/z\.wav: not imported\./);
    expect(await titles()).toEqual(['A', 'Z']);
  });

  test('imports from folders named like the buckets', async ({ sql }) => {
    const { code, sounds } = await imported(sql, {
      'audio/a.wav': tone(),
      'audio/covers/b.wav': tone(),
      'sounds.csv': 'file,category\naudio/a.wav,@\naudio/covers/b.wav,@\n',
    });
    expect([code, (await sounds()).map(({ audio_path }) => audio_path)]).toEqual([
      0,
      [expect.stringMatching(/^audio\/a-/), expect.stringMatching(/^audio\/covers\/b-/)],
    ]);
  });

  test('makes inactive sounds with --hidden, and keeps what the dashboard sets', async ({ sql }) => {
    const { category, again, sounds } = await imported(sql, { '@/a.wav': tone() }, '--hidden');
    await again();
    expect(await sounds()).toMatchObject([{ is_active: false }]);
    await sql`update public.sounds set is_active = true where category = ${category}`;
    expect((await again('--hidden')).stdout).toContain('0 new, 0 to update, 1 unchanged');
    expect(await sounds()).toMatchObject([{ is_active: true }]);
  });

  test('changes nothing with --dry-run, or without a terminal and --yes', async ({ sql }) => {
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
