import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { newSlug } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import { flacWithTitles, latin1, mp3With, utf8, utf16 } from './files.ts';
import { addFiles, encode, ffmpeg, imported, importFolder, makeFolder, picture } from './folder.ts';

/** Encodes a tone in a format; returns the bytes. */
async function encoded(extension: string, seconds: number, args: string[] = []): Promise<Buffer> {
  const folder = await makeFolder({});
  await encode(folder, `a.${extension}`, tone(seconds), args);
  return await readFile(join(folder, `a.${extension}`));
}

const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

test('lengths are measured in the recording where its header is missing or wrong', async ({ sql, skip }) => {
  skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
  const silence = ['-af', 'adelay=2000', '-q:a', '0', '-write_xing', '0'];
  const ape = Buffer.alloc(40_032);
  ape.write('APETAGEX', 'latin1');
  ape.writeUInt32LE(2000, 8);
  ape.writeUInt32LE(40_000, 12);
  const constant = await encoded('mp3', 4, ['-b:a', '64k', '-write_xing', '0']);
  const [mp3, flac, webm] = [await encoded('mp3', 4), await encoded('flac', 4), await encoded('webm', 4)];
  const joined = async (extension: string, second: Buffer | Promise<Buffer> = encoded(extension, 4)) =>
    Buffer.concat([await encoded(extension, 2), await second]);
  const files: Record<string, [content: Buffer, seconds: number]> = {
    'silence.mp3': [await encoded('mp3', 4, silence), 6],
    'joined.mp3': [await joined('mp3', mp3), 6],
    'joined.aac': [await joined('aac'), 6],
    'joined.ogg': [await joined('ogg'), 6],
    'joined.opus': [await joined('opus'), 6],
    'cut.mp3': [half(mp3), 2],
    'cut.aac': [half(await encoded('aac', 4)), 2],
    'cut.flac': [half(flac), 1.6], // behind 8 KB of padding
    'cut.webm': [half(webm), 2],
    'cut.wav': [half(tone(4)), 2],
    'tags.mp3': [Buffer.concat([constant, ape, Buffer.from('TAG'.padEnd(128, '\0'))]), 4],
    'streamed.webm': [await encoded('webm', 4, ['-live', '1']), 4],
    'streamed.wav': [tone(4).fill(0xff, 40, 44), 4],
    'rf64.wav': [await encoded('wav', 4, ['-rf64', 'always']), 4],
    'flac.ogg': [await encoded('ogg', 4, ['-c:a', 'flac']), 4],
    // Apps play the first one alone.
    'joined.wav': [await joined('wav', tone(4)), 2],
    'joined.flac': [await joined('flac', flac), 2],
    'joined.webm': [await joined('webm', webm), 2],
    'joined.m4a': [await joined('m4a'), 2],
  };
  const contents = Object.entries(files).map(([name, [content]]) => [`@/${name}`, content]);
  const { stdout, sounds } = await imported(sql, Object.fromEntries(contents));
  const measured = new Map(
    (await sounds()).map(({ audio_path, duration_sec }) => [
      audio_path.replace(/.*\/(.*)-\w+(\.\w+)/, '$1$2'),
      Number(duration_sec),
    ]),
  );
  for (const [name, [, seconds]] of Object.entries(files))
    expect(Math.abs((measured.get(name) ?? 0) - seconds), `${name}: ${measured.get(name)}`).toBeLessThan(
      0.25,
    );
  expect(stdout.match(/^note +\S+joined\.\w+ +Several recordings were joined/gm)).toHaveLength(8);
});

describe('tags', () => {
  test('titles in any encoding and with several values become one clean title', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make FLAC.');
    const titles: [tag: Buffer, title: string][] = [
      [utf8('Rain\0Thunder'), 'Rain'],
      [utf16('Rain\0Thunder'), 'Rain'],
      [utf8('\0Thunder\0'), 'Thunder'],
      [latin1('Don\x92t worry \x96 be calm \x80'), 'Don’t worry – be calm €'],
      [utf8('Ra\x1b[31min\x01\n\u202e2'), 'Ra [31min 2'],
      ...['Été à Évian', 'Ça va', 'Æ', 'Øre på øre', 'Größe'].map((title): [Buffer, string] => [
        latin1(title),
        title,
      ]),
    ];
    const files = titles.map(([tag], index) => [`@/${index}.mp3`, mp3With([['TIT2', tag]])]);
    const twoTitles = {
      '@/a.mp3': mp3With([
        ['TIT2', utf8('Rain')],
        ['TIT2', utf8('Thunder')],
      ]),
    };
    const twoComments = { '@/b.flac': flacWithTitles(await encoded('flac', 1), ['Rain', 'Thunder']) };
    const found = await imported(sql, { ...Object.fromEntries(files), ...twoTitles, ...twoComments });
    expect(found).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/^note/m) });
    expect(await found.titles()).toEqual([...titles.map(([, title]) => title), 'Rain', 'Rain']);
  });

  test('titles that were read as Latin-1 or have lost characters get a note', async ({ sql }) => {
    const titles = {
      'UTF-8': latin1('Kl\xc3\xa4nge f\xc3\xbcr dich'),
      'Windows-1251': latin1('\xcf\xf0\xe8\xe2\xe5\xf2'),
      GBK: latin1('\xcb\xaf\xc3\xdf'),
      'Shift-JIS': latin1('\x82\xb3\x82\xad\x82\xe7'),
      lost: utf8('Schlaf f\ufffdr alle'),
    };
    const files = Object.entries(titles).map(([name, tag]) => [`@/${name}.mp3`, mp3With([['TIT2', tag]])]);
    const { code, stdout } = await imported(sql, Object.fromEntries(files));
    expect(code).toBe(0);
    for (const name of Object.keys(titles))
      expect(stdout).toMatch(new RegExp(`note +\\S+${name}\\.mp3 +The tags say .*looks garbled\\.`));
  });
});

describe('names of files', () => {
  test('control characters are escaped in all output and become spaces in titles', async ({ sql }) => {
    const names = ['a\x1b[31m.wav', 'b\nb.wav', 'c\u0001c.wav', 'd\u202ed.wav', 'e\u2028e.wav', 'f\x7ff.wav'];
    const { stdout, stderr, titles } = await imported(sql, {
      ...Object.fromEntries(names.map((name) => [`@/${name}`, tone()])),
      '@/x\x1b[2J.pdf': '',
      'new\x07folder/y.wav': tone(),
    });
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|[\u2028\u202e]/u);
    expect(stdout).toMatch(/new +\S+\/b\\u\{a\}b\.wav +B b \(/);
    expect(await titles()).toEqual(['A [31m', 'B b', 'C c', 'D d', 'E e', 'F f']);
  });

  test('every file that is not used is named by its kind', async ({ sql }) => {
    const names = ['memo.3gp', 'x.mov', 'y.mov', 'song.wma', 'list.m3u', 'a.pdf', 'README', 'extra.jpg'];
    const unused = Object.fromEntries(names.map((name) => [`@/${name}`, name]));
    const { code, stdout, category } = await imported(sql, { ...unused, '@/a.wav': tone() });
    expect(code).toBe(1);
    const lines = stdout.slice(stdout.indexOf('made')).replaceAll(`${category}/`, '');
    for (const line of [
      /note +memo\.3gp +Not imported: videos are not\./,
      /note +\.mov \(2 files\) +Not imported: videos are not\./,
      /note +list\.m3u +Not imported: this is no format/,
      /note +a\.pdf +Not imported/,
      /note +README +Not imported/,
      /note +extra\.jpg +Not used: no recording beside it has its name/,
      /rejected +song\.wma +The bucket does not accept \.wma files/,
    ])
      expect(lines).toMatch(line);
  });

  test('every extension that the import takes is one that admin.catalogue_problems accepts', async ({
    sql,
    skip,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to make files of all formats.');
    const sources: Record<string, string> = {
      mp3: 'mp3 mpga mp2 m2a',
      m4a: 'm4a m4b m4r mp4a mp4',
      aac: 'aac adts',
      webm: 'webm weba',
      ogg: 'ogg oga',
      opus: 'opus',
      wav: 'wav wave',
      flac: 'flac',
    };
    const pictures = ['jpg', 'jpeg', 'jpe', 'jfif', 'png', 'apng', 'webp'];
    const files: Record<string, Buffer> = {};
    for (const [source, extensions] of Object.entries(sources))
      for (const extension of extensions.split(' '))
        files[`@/${extension}.${extension}`] = await encoded(source, 0.5);
    for (const extension of pictures) {
      const format = extension === 'webp' ? 'webp' : extension.endsWith('png') ? 'png' : 'jpeg';
      files[`@/with ${extension}.wav`] = tone();
      files[`@/with ${extension}.${extension}`] = await picture(format);
    }
    const found = await imported(sql, files);
    expect(found).toMatchObject({ code: 0, stdout: expect.not.stringContaining('No picture') });
    const sounds = await found.sounds();
    expect(sounds.filter(({ cover_version }) => cover_version !== null)).toHaveLength(pictures.length);
    const problems = await sql`
      select problem, concerns from admin.catalogue_problems where id in ${sql(sounds.map(({ id }) => id))}`;
    expect(problems).toEqual([]);
  });

  test('two names that differ in their form of Unicode alone are one sound and one rejection', async ({
    sql,
  }) => {
    const twin = (name: string) => ({
      [`@/${name.normalize('NFC')}`]: tone(),
      [`@/${name.normalize('NFD')}`]: tone(),
    });
    const files = { ...twin('é.wav'), ...twin('が/a.wav'), ...twin('Ω̄ễ.wav') };
    const { code, stdout, titles } = await imported(sql, files);
    const rejections = stdout.match(/^rejected .* Another file has this name, with its accents/gm);
    expect([code, rejections?.length, (await titles()).length]).toEqual([1, 6, 3]);
  });

  test('a name that is not UTF-8 is rejected with what to do', async ({ sql, skip }) => {
    skip(process.platform !== 'linux', 'Other systems have no such names.');
    const first = await imported(sql, { '@/a.wav': tone() });
    const path = (name: string) => Buffer.concat([Buffer.from(first.path('/')), Buffer.from(name, 'latin1')]);
    await writeFile(path('B\xe4r.wav'), tone());
    await mkdir(path('gr\xfcn'));
    const { code, stdout } = await first.again();
    expect(code).toBe(1);
    expect(stdout).toMatch(/rejected +\S+\/Bär\.wav +Its name is not in UTF-8\. Rename it\./);
    expect(stdout).toMatch(/rejected +\S+\/grün +Its name is not in UTF-8\. Rename it\./);
    await rm(path('gr\xfcn'), { recursive: true });
  });

  test('folders whose names make the same slug become categories of their own', async ({ sql }) => {
    const word = newSlug('w');
    const folders = [
      `睡眠 ${word}`,
      `冥想 ${word}`,
      word,
      `${word}++`,
      `${word}#`,
      `Ärger ${word}`,
      `aerger ${word}`,
    ];
    const files = folders.flatMap((name) => [`${name}/a.wav`, `Top ${word}/${name}/b.wav`]);
    const folder = await makeFolder(Object.fromEntries(files.map((file) => [file, tone()])));
    expect(await importFolder(folder, '--make-categories')).toMatchObject({ code: 0 });
    const stored = await sql`
      select name, parent_id is null as is_top, count(sounds.id)::int as sounds from public.categories
        join public.sounds on category = slug where slug ~ ${word} group by categories.id order by 2, 1`;
    const expected = [false, true].flatMap((isTop) => folders.map((name) => [name, isTop, 1]));
    expect(stored.map(({ name, is_top, sounds }) => [name, is_top, sounds]).sort()).toEqual(expected.sort());
    expect((await importFolder(folder, '--make-categories')).stdout).toContain(`${files.length} unchanged`);
    await addFiles(folder, Object.fromEntries(folders.map((name) => [`${name}/c.wav`, tone()])));
    await importFolder(folder, '--make-categories');
    const after = await sql`
      select name, count(sounds.id)::int as sounds from public.categories join public.sounds on category = slug
      where slug ~ ${word} and parent_id is null group by categories.id`;
    expect(after.map(({ sounds }) => sounds)).toEqual(folders.map(() => 2));
  });
});
