import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { inject, onTestFinished, vi } from 'vitest';
import { addCategory } from '../../../test/support/catalogue.ts';
import { run } from '../../../test/support/processes.ts';
import type { Sql } from '../../../test/support/test.ts';
import { readArguments } from '../arguments.ts';
import { importFolder as runImport, type Settings } from '../import-folder.ts';
import { ImportError } from '../shared/problems.ts';

export const ffmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

// A frame of 128 kbit/s at 44.1 kHz.
export const mp3Frame = Buffer.alloc(417);
mp3Frame.writeUInt32BE(0xfffb9000);

const small = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAGUlEQVQokWOIqjhBEmIY1VAxGkpRwzVpAACJzZoQPNqOjQAAAABJRU5ErkJggg==',
  webp: 'UklGRjYAAABXRUJQVlA4ICoAAACQAQCdASoQABAAAUAmJaACdLoAA5gA/txR//OJfyR+gXQf+tTIx8+4AAA=',
};

/** Returns a picture with unique bytes behind its end, which readers ignore. */
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

/** Encodes a WAV file with ffmpeg in the format of an extension. */
export async function encode(folder: string, name: string, wav: Buffer, args: string[] = []): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  const all = ['-loglevel', 'error', '-y', '-i', 'pipe:0', ...args, join(folder, name)];
  const { status, stderr } = spawnSync('ffmpeg', all, { input: wav });
  if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
}

/** Project of an import. */
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
  // Notes about uploads are removed with the temporary folder.
  const HOME = tmpdir();
  return run(rest, { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEY: secretKey, HOME }, program);
}

/** Starts an export. */
export function startExport(folder: string, { apiUrl, secretKey }: Target) {
  return run(['tools/catalogue/export/main.ts', folder], {
    SUPABASE_URL: apiUrl,
    SUPABASE_SECRET_KEY: secretKey,
  });
}

/** Imports in this process without asking, because starting the command takes longer than most imports. */
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
  vi.stubEnv('HOME', tmpdir()); // removed with the temporary folder
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

/** Imports into the project of the test run. */
export const importFolder = (folder: string, ...args: string[]) =>
  importInto(inject('stack'), folder, ...args);

/**
 * Imports files into a category of their own. `@` at the start of a name, and anywhere in a sheet, stands for its slug.
 * @returns the outcome, with the category, the folder and ways to import it again and to look at its sounds
 */
export async function imported(sql: Sql, files: Record<string, Buffer | string>, ...args: string[]) {
  const category = await addCategory(sql);
  const inCategory = (text: string) => text.replaceAll('@', category);
  const add = (more: Record<string, Buffer | string>) =>
    addFiles(
      folder,
      Object.fromEntries(
        Object.entries(more).map(([name, content]) => [
          name.replace(/^@/, category),
          typeof content === 'string' ? inCategory(content) : content,
        ]),
      ),
    );
  const folder = await makeFolder({});
  await add(files);
  const outcome = await importFolder(folder, ...args);
  return {
    ...outcome,
    category,
    folder,
    add,
    path: (name: string) => join(folder, category, name),
    again: (...more: string[]) => importFolder(folder, ...more),
    sounds: () => soundsIn(sql, category),
    titles: async () => (await soundsIn(sql, category)).map(({ title }) => title),
  };
}

/** Returns the sounds of a category with their files, in the order of lists. */
export async function soundsIn(sql: Sql, category: string) {
  return await sql`
    select sound.*, audio.metadata ->> 'mimetype' as audio_type, audio.version as audio_version, cover.version as cover_version
    from public.sounds as sound
      left join storage.objects as audio on audio.bucket_id = 'audio' and audio.name = audio_path
      left join storage.objects as cover on cover.bucket_id = 'covers' and cover.name = cover_image_path
    where category = ${category} order by created_at desc`;
}

/** Returns the lines about rejections in the final table. */
export const rejectedLines = (stdout: string) => {
  const [, outcome = ''] = stdout.split(/files? to upload \(.*\)\.\n/);
  return outcome.split('\n').filter((line) => line.startsWith('rejected'));
};
