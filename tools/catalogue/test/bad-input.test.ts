import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { addCategory } from '../../../test/support/catalogue.ts';
import { test } from '../../../test/support/test.ts';
import {
  addFiles,
  encode,
  ffmpeg,
  importFolder,
  makeFolder,
  mp3Frame,
  refusedLines,
  soundsIn,
} from './folder.ts';

const wav = tone();
const wavWithFrames = Buffer.concat([wav.subarray(0, 44), ...Array(20).fill(mp3Frame)]);
const broken = Buffer.concat([wav.subarray(0, 20), Buffer.alloc(24), wav.subarray(44)]);
const text = 'This is a text, not a recording.\n'.repeat(200);

describe('bad input is one line in the report with what to do, and the rest is imported', () => {
  test.for<[string, string, Buffer | string, RegExp]>([
    ['a text called .mp3', 'bad.mp3', text, /cannot be read as audio/],
    ['a text called .wav', 'bad.wav', text, /cannot be read as audio/],
    ['a text called .flac', 'bad.flac', text, /cannot be read as audio/],
    ['a text called .m4a', 'bad.m4a', text, /cannot be read as audio/],
    ['a text called .ogg', 'bad.ogg', text, /cannot be read as audio/],
    ['a text called .webm', 'bad.webm', text, /cannot be read as audio/],
    ['a WAV file called .mp3', 'bad.mp3', wav, /It is actually a \.wav file\. Rename it/],
    [
      'a WAV file called .mp3 whose samples look like MP3',
      'bad.mp3',
      wavWithFrames,
      /It is actually a \.wav file\. Rename it/,
    ],
    ['a broken header', 'bad.wav', broken, /cannot be read as audio/],
    [
      'an ID3 header that promises too much',
      'bad.mp3',
      'ID3\x04\0\0\x7f\x7f\x7f\x7f',
      /cannot be read as audio/,
    ],
    ['an empty file', 'bad.mp3', '', /The file is empty\. Export/],
    [
      'a type that the bucket does not accept',
      'bad.aiff',
      text,
      /does not accept \.aiff files \(audio\/x-aiff\)\. Convert it/,
    ],
    ['no header', 'bad.wav', Buffer.alloc(1000), /cannot be read as audio/],
  ])('%s', async ([, name, content, reason], { sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/${name}`]: content, [`${category}/good.wav`]: tone() });
    const { code, stdout, stderr } = await importFolder(folder);
    expect([code, stderr]).toEqual([1, '']);
    expect(refusedLines(stdout)).toEqual([
      expect.stringMatching(new RegExp(`^rejected +${category}/${name} `)),
    ]);
    expect(refusedLines(stdout)[0]).toMatch(reason);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['Good']);
  });

  test('a file larger than the bucket takes, which is not even read', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/huge.wav`]: tone() });
    await truncate(join(folder, category, 'huge.wav'), 600 * 1024 * 1024);
    // Ten megabytes as Supabase counts them.
    await addFiles(folder, { [`${category}/good.wav`]: tone((10 * 1024 * 1024) / 48_000) });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(stdout).toContain('1 file to upload (10.0 MB)');
    expect(refusedLines(stdout)).toEqual([
      expect.stringMatching(/huge\.wav +It is 600\.0 MB; the bucket accepts at most 50\.0 MB/),
    ]);
    expect(await soundsIn(sql, category)).toHaveLength(1);
  });

  test('a video', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make a video.');
    const category = await addCategory(sql);
    const folder = await makeFolder({ [`${category}/good.wav`]: tone() });
    await encode(folder, `${category}/film.mp4`, tone(1), [
      '-f',
      'lavfi',
      '-i',
      'color=size=32x32:duration=1',
    ]);
    const { stdout } = await importFolder(folder);
    expect(refusedLines(stdout)).toEqual([expect.stringMatching(/film\.mp4 +It is a video\./)]);
    expect(await soundsIn(sql, category)).toHaveLength(1);
  });

  test('a title and an order that the database rejects, in its own words, already in the plan', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/b.wav`]: tone(),
      [`${category}/good.wav`]: tone(),
      'sounds.csv': `file;title;sort_order\n${category}/a.wav;${'x'.repeat(300)};\n${category}/b.wav;;1.5\n`,
    });
    const dry = await importFolder(folder, '--dry-run');
    expect(dry.stdout).toContain(
      '1 new, 0 to update, 0 unchanged, 0 left alone, 2 rejected; 1 file to upload',
    );
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(refusedLines(stdout).sort()).toEqual([
      expect.stringMatching(
        /a\.wav +The database requires: title is trimmed visible and has 1 to 200 characters\. Correct/,
      ),
      expect.stringMatching(/b\.wav +The database rejects it: .*1\.5.*\. Correct/),
    ]);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['Good']);
  });

  test('a category of the sheet that does not exist, already in the plan', async ({ sql }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/good.wav`]: tone(),
      'sounds.csv': `file,category\n${category}/good.wav,\n${category}/a.wav,nowhere\n`,
    });
    const rejected = new RegExp(
      `^rejected +sounds\\.csv line 3 +No category has the slug or name "nowhere".* Correct it, or create the category in the dashboard; until then "${category}/a\\.wav" is rejected\\.$`,
      'm',
    );
    const dry = await importFolder(folder, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([1, expect.stringMatching(rejected)]);
    expect(dry.stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 1 rejected');
    const { code, stdout } = await importFolder(folder);
    expect([code, refusedLines(stdout)]).toEqual([1, [expect.stringMatching(rejected)]]);
    expect(stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 1 rejected');
    expect(stdout).toContain('1 made, 0 updated, 0 unchanged, 0 left alone, 1 rejected');
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['Good']);
  });

  test('lines of the sheet that are wrong: an unknown column, the same file twice, a file that is not there', async ({
    sql,
  }) => {
    const category = await addCategory(sql);
    const folder = await makeFolder({
      [`${category}/a.wav`]: tone(),
      [`${category}/b.wav`]: tone(),
      'sounds.csv': [
        'file,title,titel,frequency_hz',
        `${category}/a.wav,First,,`,
        `${category}/a.wav,Second,,`,
        `${category}/gone.wav,Gone,,`,
        `${category}/b.wav,,,deep`,
        ',,,440',
      ].join('\n'),
    });
    const { code, stdout } = await importFolder(folder);
    expect(code).toBe(1);
    expect(refusedLines(stdout)).toEqual([
      expect.stringMatching(
        /sounds\.csv +The column "titel" is unknown: its cells are not imported, all others are\. Correct/,
      ),
      expect.stringMatching(/sounds\.csv line 3 +"[^"]+" is already on line 2, which is used\. Delete/),
      expect.stringMatching(/sounds\.csv line 4 +There is no recording "[^"]+" in the folder\. Correct/),
      expect.stringMatching(
        /sounds\.csv line 5 +frequency_hz is not a number: "deep"\. Correct it; until then "[^"]+" is rejected/,
      ),
      expect.stringMatching(
        /sounds\.csv line 6 +A sound without a recording needs a title\. Fill in "file" or "title"/,
      ),
    ]);
    expect((await soundsIn(sql, category)).map(({ title }) => title)).toEqual(['First']);
  });

  test('a folder without recordings, with the extensions that are looked for', async () => {
    const { code, stdout } = await importFolder(await makeFolder({ 'notes.txt': text, 'cover.jpg': text }));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^No recordings were found in \S+: [^\n]+\.\nnote +notes\.txt +Not imported[^\n]+\n$/,
      ),
    ]);
    const extensions = /: (.*)\n/.exec(stdout)?.[1]?.match(/\.\w+/g) ?? [];
    expect(extensions).toContain('.mp3');
    const found = await importFolder(
      await makeFolder(Object.fromEntries(extensions.map((extension) => [`a${extension}`, '']))),
      '--dry-run',
    );
    expect(found.stdout).toContain(`${extensions.length} rejected`);
    expect(found.stdout.match(/The file is empty/g)).toHaveLength(extensions.length);
  });

  test('rejections in the order of the folder', async ({ sql }) => {
    const category = await addCategory(sql);
    // What is empty is rejected at once, what is long only when it has been read.
    const files = {
      [`${category}/2.mp3`]: Buffer.alloc(20_000_000),
      [`${category}/3.wav`]: '',
      [`${category}/10.wav`]: '',
    };
    const { stdout } = await importFolder(await makeFolder(files), '--dry-run');
    const names = [...stdout.matchAll(/^rejected +\S+\/(\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['2.mp3', '3.wav', '10.wav']);
  });
});
