import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inject, onTestFinished, vi } from 'vitest';
import { run } from '../../../test/support/processes.ts';
import type { Sql } from '../../../test/support/test.ts';
import { readArguments } from '../arguments.ts';
import { importFolder as runImport, type Settings } from '../import-folder.ts';
import { ImportError } from '../shared/problems.ts';

export const ffmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

// 128 kbit/s at 44.1 kHz: 417 bytes that begin with this header are a frame.
export const mp3Frame = Buffer.alloc(417);
mp3Frame.writeUInt32BE(0xfffb9000);

const small = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAGUlEQVQokWOIqjhBEmIY1VAxGkpRwzVpAACJzZoQPNqOjQAAAABJRU5ErkJggg==',
  webp: 'UklGRjYAAABXRUJQVlA4ICoAAACQAQCdASoQABAAAUAmJaACdLoAA5gA/txR//OJfyR+gXQf+tTIx8+4AAA=',
};

/** A picture whose bytes are no other's: behind its end, no reader looks. */
export async function picture(format: 'jpeg' | 'png' | 'webp' = 'jpeg'): Promise<Buffer> {
  const image =
    format === 'jpeg'
      ? await readFile('supabase/samples/covers/water/slow-ocean-waves.jpg')
      : Buffer.from(small[format], 'base64');
  return Buffer.concat([image, crypto.getRandomValues(new Uint8Array(16))]);
}

/** Makes a folder of these files for one test. */
export async function makeFolder(files: Record<string, Buffer | string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await addFiles(folder, files);
  return folder;
}

export async function addFiles(folder: string, files: Record<string, Buffer | string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** Has ffmpeg make a file of a WAV file, by the extension of its name. */
export async function encode(folder: string, name: string, wav: Buffer, args: string[] = []): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  const all = ['-loglevel', 'error', '-y', '-i', 'pipe:0', ...args, join(folder, name)];
  const { status, stderr } = spawnSync('ffmpeg', all, { input: wav });
  if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
}

/** Where an import goes. */
export interface Target {
  apiUrl: string;
  secretKey: string;
}

/**
 * Starts the command.
 * @param wrapper a program with arguments that runs it
 */
export function startImport(
  args: string[],
  { apiUrl, secretKey }: Target = inject('stack'),
  wrapper: string[] = [],
) {
  const [program = '', ...rest] = [...wrapper, process.execPath, 'tools/catalogue/main.ts', ...args];
  // What it notes there is removed with everything temporary.
  const HOME = tmpdir();
  return run(rest, { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEY: secretKey, HOME }, program);
}

/** Starts the command that goes the other way. */
export function startExport(folder: string, { apiUrl, secretKey }: Target) {
  return run(['tools/catalogue/export/main.ts', folder], {
    SUPABASE_URL: apiUrl,
    SUPABASE_SECRET_KEY: secretKey,
  });
}

/** Does what the command does, without asking, in this process: starting one takes longer than most imports. */
export async function importInto({ apiUrl, secretKey }: Target, folder: string, ...args: string[]) {
  const output = { stdout: '', stderr: '' };
  const collect =
    (stream: keyof typeof output) =>
    (text: unknown = '') => {
      output[stream] += `${stripVTControlCharacters(String(text))}\n`;
    };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(collect('stdout')),
    vi.spyOn(console, 'error').mockImplementation(collect('stderr')),
  ];
  vi.stubEnv('HOME', tmpdir()); // what it notes there is removed with everything temporary
  try {
    const settings = readArguments([folder, '--yes', ...args]) as Settings;
    const isDone = await runImport(settings, { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEY: secretKey });
    return { code: isDone ? 0 : 1, ...output };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { code: 1, ...output, stderr: `${output.stderr}${error.message}\n` };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

/** The same into the project of the run. */
export const importFolder = (folder: string, ...args: string[]) =>
  importInto(inject('stack'), folder, ...args);

/** What came out of imports into one category, in the order of lists. */
export async function soundsIn(sql: Sql, category: string) {
  return await sql`
    select sound.*, audio.metadata ->> 'mimetype' as audio_type, audio.version as audio_version, cover.version as cover_version
    from public.sounds as sound
      left join storage.objects as audio on audio.bucket_id = 'audio' and audio.name = audio_path
      left join storage.objects as cover on cover.bucket_id = 'covers' and cover.name = cover_image_path
    where category = ${category} order by created_at desc`;
}

/** The lines of the final table about what was rejected: where, and why. */
export const refusedLines = (stdout: string) => {
  const [, outcome = ''] = stdout.split(/files? to upload \(.*\)\.\n/);
  return outcome.split('\n').filter((line) => line.startsWith('rejected'));
};
