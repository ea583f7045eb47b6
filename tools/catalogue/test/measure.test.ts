import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { measure } from '../read/measure.ts';
import type { Facts } from '../shared/fields.ts';
import { imported, makeFolder, readFiles, readFolder } from './folder.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const NEEDS_FFMPEG = 'Install ffmpeg to make recordings.';

/** Runs ffmpeg in a folder. Each text has the options of one file, and its name. */
function make(folder: string, ...files: string[]): void {
  for (const file of files) {
    const { status, stderr } = spawnSync('ffmpeg', ['-loglevel', 'error', ...file.split(' ')], { cwd: folder });
    if (status !== 0) throw new Error(`ffmpeg ${file}: ${stderr}`);
  }
}

const sine = (seconds: number) => `-f lavfi -i sine=330:d=${seconds}`;
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

test('lengths are right despite wrong headers, granules or channel assignments', async ({ skip }) => {
  skip(!hasFfmpeg, NEEDS_FFMPEG);
  const folder = await makeFolder();
  const assigned = 'aevalsrc=0.2*sin(1885*t)|0.2*sin(if(lt(t\\,3)\\,1885\\,1904)*t):d=23';
  const picture = '-f lavfi -i color=red:size=64x64:rate=1:d=4 -map 0 -map 1 -c:a aac -c:v mjpeg -f mp4';
  make(
    folder,
    `-f lavfi -i ${assigned} assigned.flac`,
    `${sine(30)} -af apulsator moving.flac`,
    `${sine(20)} -output_ts_offset 3600 hour.opus`,
    `${sine(20)} -output_ts_offset 108000 day.opus`,
    `${sine(60)} -c:a adpcm_ms adpcm.wav`,
    `${sine(60)} -c:a adpcm_ima_wav ima.wav`,
    `${sine(4)} ${picture} podcast.m4b`,
    ...['mp3', 'aac'].map((format) => `${sine(8)} whole.${format}`),
  );
  const content = (name: string) => readFile(join(folder, name));
  const halfRate = tone(10);
  halfRate.writeUInt32LE(halfRate.readUInt32LE(28) / 2, 28);
  await writeFile(join(folder, 'half rate.wav'), halfRate);
  for (const name of ['adpcm.wav', 'ima.wav']) await writeFile(join(folder, name), half(await content(name)));
  // The second half of a stream begins within a frame.
  for (const name of ['whole.mp3', 'whole.aac'])
    await writeFile(join(folder, name), (await content(name)).subarray(half(await content(name)).length));
  const lengths = {
    'adpcm.wav': 30,
    'assigned.flac': 23,
    'day.opus': 20,
    'half rate.wav': 10,
    'hour.opus': 20,
    'ima.wav': 30,
    'moving.flac': 30,
    'podcast.m4b': 4,
    'whole.aac': 4,
    'whole.mp3': 4,
  };
  const { sounds, rejected } = await readFolder(folder);
  expect(rejected).toEqual([]);
  const found = Object.fromEntries(sounds.map(({ file, fields }) => [file, fields.duration_sec]));
  expect(Object.keys(found)).toEqual(Object.keys(lengths));
  for (const [file, seconds] of Object.entries(lengths))
    expect(Math.abs(Number(found[file]) - seconds), `${file}: ${found[file]}`).toBeLessThan(0.05);
}, 60_000);

test('files that are no recordings, protected or named wrongly are rejected with the reason', async ({ skip }) => {
  skip(!hasFfmpeg, NEEDS_FFMPEG);
  const folder = await makeFolder();
  make(folder, `${sine(1)} a.m4a`, `${sine(1)} a.mp3`);
  const [m4a, mp3] = [await readFile(join(folder, 'a.m4a'), 'latin1'), await readFile(join(folder, 'a.mp3'))];
  const unreadable = /^It cannot be read as audio/;
  const random = () => randomBytes(5_000_000);
  const bad: Record<string, [content: Buffer | string, reason: RegExp]> = {
    'drm.m4a': [Buffer.from(m4a.replace('mp4a', 'drms'), 'latin1'), /^It is protected/],
    'full.mp3': [Buffer.alloc(300_000, 0xff), unreadable],
    'list.mp3': [`ffconcat version 1.0\nfile ${folder}/a.mp3\n`, unreadable],
    'mp3.m4a': [mp3, /is actually a \.mp3: rename it/],
    'mp3.ogg': [mp3, /is actually a \.mp3: rename it/],
    'mp3.wav': [mp3, /is actually a \.mp3: rename it/],
    'random.aac': [random(), unreadable],
    'random.mp3': [random(), unreadable],
  };
  const { sounds, rejected } = await readFiles(
    Object.fromEntries(Object.entries(bad).map(([name, [content]]) => [name, content])),
  );
  expect(sounds).toEqual([]);
  expect(rejected).toEqual(
    Object.entries(bad).map(([where, [, reason]]) => ({ where, reason: expect.stringMatching(reason) })),
  );
}, 60_000);

test('loudness, peak and waveform are those of the audio as it is, in all channels', async ({ skip }) => {
  skip(!hasFfmpeg, NEEDS_FFMPEG);
  const folder = await makeFolder();
  const samples = {
    'sine.wav': '-f lavfi -i aevalsrc=sin(2*PI*440*t):d=3',
    'quiet.flac': '-f lavfi -i aevalsrc=0.05*sin(2*PI*440*t):d=5',
    'opposite.flac': '-f lavfi -i aevalsrc=0.5*sin(2*PI*440*t)|-0.5*sin(2*PI*440*t):d=5',
    'surround.flac': '-f lavfi -i anoisesrc=d=4:a=0.3:c=pink -af pan=5.1|c0=c0|c1=0.3*c0|c4=0.2*c0',
    'noise.mp3': '-f lavfi -i anoisesrc=d=6:a=1:c=white -b:a 128k',
    'silence.wav': '-f lavfi -i anullsrc=d=2 -t 2',
  };
  make(folder, ...Object.entries(samples).map(([name, options]) => `${options} ${name}`));
  for (const name of Object.keys(samples)) {
    const source = join(folder, name);
    const { facts = { waveform: [] } as Facts } = (await measure(source, 1_000_000)) ?? {};
    const report = spawnSync('ffmpeg', ['-i', source, '-af', 'ebur128=peak=true', '-f', 'null', '-']).stderr.toString();
    const summary = report.slice(report.lastIndexOf('Summary:'));
    const [loudness, peak] = [/ I: +(\S+)/, / Peak: +(\S+)/].map((pattern) => Number(pattern.exec(summary)?.[1]));
    const isSilent = name === 'silence.wav';
    expect([facts.loudness_lufs, facts.true_peak_dbtp], name).toEqual(isSilent ? [null, null] : [loudness, peak]);
    expect(facts.waveform).toHaveLength(200);
    const [lowest, highest] = [Math.min(...(facts.waveform ?? [])), Math.max(...(facts.waveform ?? []))];
    if (isSilent) expect(highest).toBeLessThanOrEqual(3);
    if (name === 'sine.wav') expect([lowest, highest]).toEqual([100, 100]);
    if (name === 'opposite.flac') expect([lowest, highest]).toEqual([50, 50]);
  }
}, 60_000);

/** Sets the path of programs for one test. */
function usePath(path: string): () => void {
  const { PATH } = process.env;
  const restore = () => {
    process.env['PATH'] = PATH;
  };
  process.env['PATH'] = path;
  onTestFinished(restore);
  return restore;
}

/** Puts a program named ffmpeg first on the path, which counts its runs. @returns the number of runs */
async function countRuns(): Promise<() => Promise<number>> {
  const folder = await makeFolder({ runs: '' });
  const real = spawnSync('which', ['ffmpeg']).stdout.toString().trim();
  await writeFile(join(folder, 'ffmpeg'), `#!/bin/sh\necho run >> ${folder}/runs\nexec ${real} "$@"\n`);
  await chmod(join(folder, 'ffmpeg'), 0o755);
  usePath(`${folder}:${process.env['PATH']}`);
  return async () => (await readFile(join(folder, 'runs'), 'utf8')).length / 'run\n'.length;
}

test('each recording is decoded once, also if it is renamed, copied or in another project', async ({ sql, skip }) => {
  skip(!hasFfmpeg, NEEDS_FFMPEG);
  const runs = await countRuns();
  const { path, next } = await imported(sql, { '@/a.wav': tone(), '@/b.wav': tone() });
  expect(await runs()).toBe(2);
  await copyFile(path('a.wav'), path('copy.wav'));
  await copyFile(path('b.wav'), path('renamed.wav'));
  await next();
  expect(await runs()).toBe(2);
  await appendFile(path('b.wav'), 'LISTsomething'.padEnd(100, ' ')); // other bytes after the audio
  expect((await next()).stdout).toContain('0 rejected');
  expect(await runs()).toBe(3);
});

test('without ffmpeg, the header gives the length, and the next import with it adds the rest', async ({
  sql,
  skip,
}) => {
  skip(!hasFfmpeg, NEEDS_FFMPEG);
  const broken = { '@/a.wav': tone(2), '@/odd.mp3': Buffer.alloc(300_000, 0xff) };
  const restore = usePath('/nowhere');
  const { next, sounds, stdout } = await imported(sql, { '@/a.wav': broken['@/a.wav'] });
  expect(stdout).toMatch(/note +\S+a\.wav +Without ffmpeg, loudness and waveform are missing.*apt install ffmpeg/);
  expect(await sounds()).toMatchObject([{ duration_sec: '2', loudness_lufs: null, waveform: null }]);
  const rejecting = await next({ '@/odd.mp3': broken['@/odd.mp3'] });
  expect(rejecting.stdout).toMatch(/rejected +\S+odd\.mp3 +Its length cannot be read without ffmpeg\. Install it/);
  restore();
  await next();
  const measured = { duration_sec: '2', loudness_lufs: expect.any(String), waveform: expect.any(Array) };
  expect(await sounds()).toMatchObject([measured]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 1 unchanged');
});
