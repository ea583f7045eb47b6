import { spawnSync } from 'node:child_process';
import { appendFile, chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { tone } from '../../../test/support/audio.ts';
import { test } from '../../../test/support/test.ts';
import { measure } from '../read/measure.ts';
import type { Facts } from '../shared/fields.ts';
import { encode } from './files.ts';
import { imported, makeFolder, readFiles, startImport } from './folder.ts';

const formats = ['mp3', 'aac', 'ogg', 'opus', 'flac', 'webm', 'm4a', 'wav'];

test('the length is measured in the audio data, even if headers or granules are wrong', {
  tags: ['ffmpeg'],
}, async () => {
  const made = encode(
    await makeFolder(),
    {
      ...Object.fromEntries(formats.map((format) => [`4.${format}`, ''])),
      'assigned.flac': '-map 1',
      'moving.flac': '-af apulsator',
      'hour.opus': '-output_ts_offset 3600',
      'day.opus': '-output_ts_offset 108000',
      'adpcm.wav': '-c:a adpcm_ms',
      'ima.wav': '-c:a adpcm_ima_wav',
      'podcast.m4b': '-map 0 -map 2 -c:a aac -c:v mjpeg -f mp4',
      'silence.mp3': '-af adelay=2000 -q:a 0 -write_xing 0',
      'constant.mp3': '-b:a 64k -write_xing 0',
      'live.webm': '-live 1',
      'rf64.wav': '-rf64 always',
      'flac.ogg': '-c:a flac',
    },
    'aevalsrc=0.2*sin(1885*t)|0.2*sin(if(lt(t\\,3)\\,1885\\,1904)*t):d=4',
    'color=red:size=64x64:rate=1:d=4',
  );
  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
  const rest = (bytes: Buffer) => bytes.subarray(bytes.length / 2);
  const [halfRate, streamed] = [tone(4), tone(4).fill(0xff, 40, 44)];
  halfRate.writeUInt32LE(halfRate.readUInt32LE(28) / 2, 28);
  const ape = Buffer.alloc(40_032);
  ape.write('APETAGEX', 'latin1');
  ape.writeUInt32LE(2000, 8);
  ape.writeUInt32LE(40_000, 12);
  const whole = 'assigned.flac moving.flac hour.opus day.opus podcast.m4b live.webm rf64.wav flac.ogg'.split(' ');
  const files: Record<string, [content: Buffer, seconds: number]> = {
    ...Object.fromEntries(whole.map((name) => [name, [made(name), 4] as const])),
    'half rate.wav': [halfRate, 4],
    'streamed.wav': [streamed, 4],
    'silence.mp3': [made('silence.mp3'), 6],
    'tags.mp3': [Buffer.concat([made('constant.mp3'), ape, Buffer.from('TAG'.padEnd(128, '\0'))]), 4.05],
    // Half of the bytes is only about half of the time.
    ...Object.fromEntries(
      ['mp3', 'aac', 'webm', 'wav'].map((format) => [`cut.${format}`, [half(made(`4.${format}`)), 2]]),
    ),
    'cut.flac': [half(made('4.flac')), 1.6], // half of the bytes contain 8 KB of padding
    'cut adpcm.wav': [half(made('adpcm.wav')), 2],
    'cut ima.wav': [half(made('ima.wav')), 2],
    // The second half of a stream begins within a frame.
    'rest.mp3': [rest(made('4.mp3')), 2],
    'rest.aac': [rest(made('4.aac')), 2],
  };
  // Encoders add silence to MP3 and AAC. ffmpeg reads only the first half of M4A and WAV, and many apps only that of
  // FLAC and WebM. The header of a FLAC has the length of the first half.
  for (const format of formats) {
    const content = Buffer.concat([made(`4.${format}`), made(`4.${format}`)]);
    files[`joined.${format}`] = [content, { aac: 8.1, flac: 4, m4a: 4, mp3: 8.1, wav: 4 }[format] ?? 8];
  }
  const contents = Object.entries(files).map(([name, [content]]) => [name, content]);
  const { sounds, rejected } = await readFiles(Object.fromEntries(contents));
  expect([sounds.length, rejected]).toEqual([contents.length, []]);
  const hint = expect.stringMatching(/^It contains several joined recordings/);
  for (const { file = '', fields, notes } of sounds) {
    const [, seconds = 0] = files[file] ?? [];
    const difference = Math.abs(Number(fields.duration_sec) - seconds);
    expect(difference, `${file}: ${fields.duration_sec}`).toBeLessThan(/^cut\./.test(file) ? 0.1 : 0.05);
    expect(notes, file).toEqual(/^joined\.(flac|webm|m4a|wav)/.test(file) ? [hint] : []);
  }
});

test('loudness, peak and waveform are those of the audio as it is, in all channels', { tags: ['ffmpeg'] }, async () => {
  const folder = await makeFolder();
  const samples = {
    'sine.wav': 'aevalsrc=sin(2*PI*440*t):d=3',
    'fading.flac': 'aevalsrc=0.02*(1-t/5)*sin(2*PI*440*t):d=5',
    'opposite.flac': 'aevalsrc=0.5*sin(2*PI*440*t)|-0.5*sin(2*PI*440*t):d=5',
    'surround.flac': 'anoisesrc=d=4:a=0.3:c=pink,pan=5.1|c0=c0|c1=0.3*c0|c4=0.2*c0',
    'noise.mp3': 'anoisesrc=d=6:a=1:c=white',
    'silence.wav': 'anullsrc=d=2,atrim=end=2',
  };
  const names = Object.keys(samples);
  const outputs = names.map((name, index) => [name, `-map ${index + 1}`]);
  encode(folder, Object.fromEntries(outputs), ...Object.values(samples));
  for (const name of names) {
    const source = join(folder, name);
    const { facts = { waveform: [] } as Facts } = (await measure(source, 1_000_000)) ?? {};
    const report = spawnSync('ffmpeg', [
      '-i',
      source,
      '-af',
      'ebur128=peak=true:dualmono=true',
      '-f',
      'null',
      '-',
    ]).stderr.toString();
    const summary = report.slice(report.lastIndexOf('Summary:'));
    const [loudness, peak] = [/ I: +(\S+)/, / Peak: +(\S+)/].map((pattern) => Number(pattern.exec(summary)?.[1]));
    const isSilent = name === 'silence.wav';
    expect([facts.loudness_lufs, facts.true_peak_dbtp], name).toEqual(isSilent ? [null, null] : [loudness, peak]);
    expect(facts.waveform).toHaveLength(200);
    const [lowest, highest] = [Math.min(...(facts.waveform ?? [])), Math.max(...(facts.waveform ?? []))];
    if (isSilent) expect(highest).toBeLessThanOrEqual(3);
    if (name === 'sine.wav') expect([lowest, highest]).toEqual([100, 100]);
    if (name === 'opposite.flac') expect([lowest, highest]).toEqual([100, 100]);
    if (name === 'fading.flac') expect([lowest, highest]).toEqual([1, 100]);
  }
});

test('the loudness of mono is that of the same audio on two speakers', { tags: ['ffmpeg'] }, async () => {
  const folder = await makeFolder();
  encode(folder, { 'one.wav': '-map 1', 'two.wav': '-map 1 -af pan=stereo|c0=c0|c1=c0' }, 'anoisesrc=d=4:a=0.3:c=pink');
  const [one, two] = await Promise.all(['one.wav', 'two.wav'].map((name) => measure(join(folder, name), 1_000_000)));
  expect(one?.facts.loudness_lufs).toBe(two?.facts.loudness_lufs);
});

test('a recording whose channels change has the loudness and the peak of all parts', { tags: ['ffmpeg'] }, async () => {
  const folder = await makeFolder();
  const outputs = { 'loud.ogg': '-map 1', 'quiet.ogg': '-map 2', 'one.ogg': '-map 3' };
  const loud = '0.9*sin(2*PI*440*t)';
  const one = 'if(lt(t\\,4)\\,0.9\\,0.45)*sin(2*PI*440*t)';
  const sources = [`${loud}|${loud}:d=4`, '0.45*sin(2*PI*440*t):d=8', `${one}|${one}:d=12`];
  const made = encode(folder, outputs, ...sources.map((source) => `aevalsrc=${source}`));
  await writeFile(join(folder, 'parts.ogg'), Buffer.concat([made('loud.ogg'), made('quiet.ogg')]));
  const { facts } = (await measure(join(folder, 'parts.ogg'), 1_000_000)) ?? {};
  const whole = await measure(join(folder, 'one.ogg'), 1_000_000);
  expect(facts?.duration_sec).toBeCloseTo(12, 1);
  expect(Math.abs(Number(facts?.loudness_lufs) - Number(whole?.facts.loudness_lufs))).toBeLessThan(0.5);
  expect(Math.abs(Number(facts?.true_peak_dbtp) - Number(whole?.facts.true_peak_dbtp))).toBeLessThan(0.5);
});

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

test('each recording is decoded once, also if it is renamed, copied or in another project', {
  tags: ['ffmpeg'],
}, async ({ sql }) => {
  // Put a program named ffmpeg first on the path, which counts its runs.
  const programs = await makeFolder({ runs: '' });
  const real = spawnSync('which', ['ffmpeg']).stdout.toString().trim();
  await writeFile(join(programs, 'ffmpeg'), `#!/bin/sh\necho run >> ${programs}/runs\nexec ${real} "$@"\n`);
  await chmod(join(programs, 'ffmpeg'), 0o755);
  usePath(`${programs}:${process.env['PATH']}`);
  const runs = async () => (await readFile(join(programs, 'runs'), 'utf8')).length / 'run\n'.length;
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

test('an import measures again what an older release measured, but keeps values entered by hand', {
  tags: ['ffmpeg'],
}, async ({ sql }) => {
  const { next, sounds } = await imported(sql, { '@/a.wav': tone(2), '@/b.wav': tone(2) });
  const measured = await sounds();
  const [a, b] = measured.map(({ id }) => id);
  const old = { loudness_lufs: -42, waveform: Array<number>(200).fill(7) };
  const restoreOld = () => sql`update public.sounds set ${sql(old)} where id in ${sql([a, b])}`;
  await restoreOld();
  await sql`
    update public.imported_files set version = 1, facts = facts || ${sql.json(old)}
    where checksum in (select checksum from public.imported_sounds where sound_id in ${sql([a, b])})`;
  await sql`update public.sounds set loudness_lufs = -9 where id = ${b}`;
  const pick = ({ loudness_lufs, waveform }: (typeof measured)[number]) => ({ loudness_lufs, waveform });
  const [first, second] = measured.map(pick);
  await next();
  expect((await sounds()).map(pick)).toEqual([first, { ...second, loudness_lufs: '-9' }]);
  // An import that was interrupted has stored the measurements, but not yet written the rows.
  await restoreOld();
  await next();
  expect((await sounds()).map(pick)).toEqual([first, second]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 2 unchanged');
});

test('an import without ffmpeg ends when it has printed its result', async () => {
  const folder = await makeFolder({ 'a.wav': tone() });
  const { exited, output } = startImport([folder, '--dry-run'], undefined, ['/usr/bin/env', 'PATH=/nowhere']);
  expect(await exited).toBe(0);
  expect(output.stdout).toMatch(/1 new, .* 0 rejected/);
});

test('without ffmpeg, the header gives the length, and the next import with it adds the rest', {
  tags: ['ffmpeg'],
}, async ({ sql }) => {
  const restore = usePath('/nowhere');
  const { next, sounds, stdout } = await imported(sql, { '@/a.wav': tone(2) });
  expect(stdout).toMatch(/note +\S+a\.wav +Without ffmpeg, loudness and waveform are missing.*apt install ffmpeg/);
  expect(await sounds()).toMatchObject([{ duration_sec: '2', loudness_lufs: null, waveform: null }]);
  const rejecting = await next({ '@/odd.mp3': Buffer.alloc(300_000, 0xff) });
  expect(rejecting.stdout).toMatch(/rejected +\S+odd\.mp3 +Its length cannot be read without ffmpeg\. Install it/);
  restore();
  await next();
  const measured = { duration_sec: '2', loudness_lufs: expect.any(String), waveform: expect.any(Array) };
  expect(await sounds()).toMatchObject([measured]);
  expect((await next()).stdout).toContain('0 new, 0 to update, 1 unchanged');
});
