import { readFile, truncate } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { encode, ffmpeg, imported, importFolder, makeFolder, mp3Frame, rejectedLines } from './folder.ts';

const wav = tone();
const text = 'This is a text, not a recording.\n'.repeat(200);

describe('bad input', () => {
  test('each file that is no recording is one rejection with what to do', async ({ sql, skip }) => {
    skip(!ffmpeg, 'Install ffmpeg to make a video.');
    const unreadable = /cannot be read as audio, .* Check that it plays/;
    const actuallyWav = /It is actually a \.wav file\. Rename it/;
    const video = await makeFolder({});
    await encode(video, 'x.mp4', tone(1), ['-f', 'lavfi', '-i', 'color=size=32x32:duration=1']);
    const bad: [name: string, content: Buffer | string, reason: RegExp][] = [
      ...['mp3', 'wav', 'flac', 'm4a', 'ogg', 'webm'].map(
        (extension) => [`text.${extension}`, text, unreadable] satisfies [string, string, RegExp],
      ),
      ['a wav.mp3', wav, actuallyWav],
      ['wav with frames.mp3', Buffer.concat([wav.subarray(0, 44), ...Array(20).fill(mp3Frame)]), actuallyWav],
      ['header.wav', Buffer.concat([wav.subarray(0, 20), Buffer.alloc(24), wav.subarray(44)]), unreadable],
      ['long tag.mp3', 'ID3\x04\0\0\x7f\x7f\x7f\x7f', unreadable],
      ['zeros.wav', Buffer.alloc(1000), unreadable],
      ['empty.mp3', '', /The file is empty\. Export/],
      ['text.aiff', text, /does not accept \.aiff files \(audio\/x-aiff\)\. Convert it/],
      ['film.mp4', await readFile(`${video}/x.mp4`), /It is a video\. Export only/],
    ];
    const files = Object.fromEntries(bad.map(([name, content]) => [`@/${name}`, content]));
    const { code, stderr, stdout, category, titles } = await imported(sql, {
      ...files,
      '@/good.wav': tone(),
    });
    expect([code, stderr, await titles()]).toEqual([1, '', ['Good']]);
    const lines = rejectedLines(stdout);
    expect(lines).toHaveLength(bad.length);
    for (const [name, , reason] of bad)
      expect(lines.find((line) => line.includes(`${category}/${name} `))).toMatch(reason);
  });

  test('a file larger than the bucket accepts is rejected without reading it', async ({ sql }) => {
    const { path, again } = await imported(sql, { '@/huge.wav': tone() }, '--dry-run');
    await truncate(path('huge.wav'), 600 * 1024 * 1024);
    const { code, stdout } = await again('--dry-run');
    expect(code).toBe(1);
    expect(stdout).toMatch(/rejected +\S+huge\.wav +It is 600\.0 MB; the bucket accepts at most 50\.0 MB/);
  });

  test('values that the database rejects are rejected in the plan', async ({ sql }) => {
    const { code, stdout, titles } = await imported(sql, {
      '@/a.wav': tone(),
      '@/b.wav': tone(),
      '@/good.wav': tone(),
      'sounds.csv': `file;title;sort_order\n@/a.wav;${'x'.repeat(300)};\n@/b.wav;;1.5\n`,
    });
    expect(code).toBe(1);
    expect(stdout).toContain('1 new, 0 to update, 0 unchanged, 0 left alone, 2 rejected; 1 file to upload');
    expect(rejectedLines(stdout).sort()).toEqual([
      expect.stringMatching(
        /a\.wav +The database requires: title is trimmed visible and has 1 to 200 .*\. Correct/,
      ),
      expect.stringMatching(/b\.wav +The database rejects it: .*1\.5.*\. Correct/),
    ]);
    expect(await titles()).toEqual(['Good']);
  });

  test('wrong lines of the sheet are rejected with what to do', async ({ sql }) => {
    const { code, stdout, titles } = await imported(sql, {
      '@/a.wav': tone(),
      '@/b.wav': tone(),
      'sounds.csv':
        'file,title,titel,category\n@/a.wav,First,,\n@/a.wav,Second,,\n@/gone.wav,Gone,,\n@/b.wav,,,nowhere\n,,,@\n',
    });
    expect([code, await titles()]).toEqual([1, ['First']]);
    expect(rejectedLines(stdout)).toEqual([
      expect.stringMatching(/sounds\.csv +The column "titel" is unknown: .* Correct its name or delete it/),
      expect.stringMatching(/sounds\.csv line 3 +"[^"]+" is already on line 2, which is used\. Delete/),
      expect.stringMatching(/sounds\.csv line 4 +There is no recording "[^"]+" in the folder\. Correct/),
      expect.stringMatching(
        /line 5 +No category has the slug or name "nowhere".* Correct it, or create .* "[^"]+b\.wav" is rejected/,
      ),
      expect.stringMatching(
        /sounds\.csv line 6 +A sound without a recording needs a title\. Fill in "file" or "title"/,
      ),
    ]);
  });

  test('a folder without recordings is answered with the extensions that the import knows', async () => {
    const { code, stdout } = await importFolder(await makeFolder({ 'notes.txt': text, 'cover.jpg': text }));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^No recordings were found in \S+: [^\n]+\.\nnote +notes\.txt +Not imported[^\n]+\n$/,
      ),
    ]);
    const extensions = /: (.*)\n/.exec(stdout)?.[1]?.match(/\.\w+/g) ?? [];
    const empty = Object.fromEntries(extensions.map((extension) => [`a${extension}`, '']));
    const found = await importFolder(await makeFolder(empty), '--dry-run');
    expect(found.stdout.match(/The file is empty/g)).toHaveLength(extensions.length);
  });

  test('rejections are listed in the order of the folder', async ({ sql }) => {
    // An empty file is rejected at once, a long one when it has been read.
    const files = { '@/2.mp3': Buffer.alloc(20_000_000), '@/3.wav': '', '@/10.wav': '' };
    const { stdout } = await imported(sql, files, '--dry-run');
    const names = [...stdout.matchAll(/^rejected +\S+\/(\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['2.mp3', '3.wav', '10.wav']);
  });
});
