import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, inject, onTestFinished, vi } from 'vitest';
import { addCategory } from '../../../test/support/catalogue.ts';
import { run } from '../../../test/support/processes.ts';
import type { Sql } from '../../../test/support/test.ts';
import { exportCatalogue } from '../export/export-catalogue.ts';
import { measureStored } from '../facts.ts';
import { importFolder as runImport } from '../import-folder.ts';
import { createMeasurements } from '../project/measurements.ts';
import { limitsOf } from '../project/storage.ts';
import { connect, projectOf } from '../project/supabase.ts';
import { openFolder } from '../read/folder.ts';
import { gather } from '../read/gather.ts';
import { readSheet } from '../read/sheet.ts';
import { readArguments, type Settings } from '../shared/arguments.ts';
import { ImportError } from '../shared/problems.ts';

/**
 * Hides ffmpeg from the tests of this file that lack its tag, because decoding takes most of the time of a short import.
 * It also makes a test fail that lacks the tag and needs ffmpeg.
 */
export function hideFfmpeg() {
  beforeEach(({ task }) => {
    if (task.tags?.includes('ffmpeg')) return undefined;
    const { PATH } = process.env;
    process.env['PATH'] = '/nowhere';
    return () => {
      process.env['PATH'] = PATH;
    };
  });
}

/** Contents of files by their names in a folder. */
export type Files = Record<string, Buffer | string>;

/** Makes a folder of these files for one test. */
export async function makeFolder(files: Files = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-import-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await addFiles(folder, files);
  return folder;
}

export async function addFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** Project of an import. @property port port of `npm run dev` */
export interface Target {
  apiUrl: string;
  secretKey: string;
  port?: number;
}

export const envOf = ({ apiUrl, secretKey, port }: Target) => ({
  SUPABASE_URL: apiUrl,
  SUPABASE_SECRET_KEY: secretKey,
  ...(port && { SUPABASE_PORT: String(port) }),
});

/** Starts the command. @param wrapper a program with arguments that runs it */
export function startImport(args: string[], target: Target = inject('stack'), wrapper: string[] = []) {
  const [program = '', ...rest] = [...wrapper, process.execPath, 'tools/catalogue/main.ts', ...args];
  // Write notes about uploads into the temporary folder, which is removed after the tests.
  return run(rest, { ...envOf(target), HOME: tmpdir() }, program);
}

/** Runs a command in this process, because starting its program takes longer than most commands. */
async function runHere(command: () => Promise<boolean>) {
  const output = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof output, method: 'log' | 'error') =>
    vi.spyOn(console, method).mockImplementation((text = '') => {
      output[stream] += `${stripVTControlCharacters(String(text))}\n`;
    });
  const spies = [collect('stdout', 'log'), collect('stderr', 'error')];
  vi.stubEnv('HOME', tmpdir()); // removed with the temporary folder
  try {
    return { code: (await command()) ? 0 : 1, ...output };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { code: 1, ...output, stderr: `${output.stderr}${error.message}\n` };
  } finally {
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

/** Imports and asks for confirmation, if the standard input is a terminal. */
export const importAsking = (target: Target, folder: string, ...args: string[]) =>
  runHere(() => runImport(readArguments([folder, ...args]) as Settings, envOf(target)));

/** Measures what is in Storage, as `npm run import -- --facts` does. */
export const measureFacts = (target: Target) => runHere(() => measureStored(envOf(target)));

/** Exports as `npm run export` does. */
export const exportFrom = (target: Target, folder: string) =>
  runHere(async () => {
    await exportCatalogue(folder, envOf(target));
    return true;
  });

/** Imports without asking, because `--yes` is set. */
export const importInto = (target: Target, folder: string, ...args: string[]) =>
  importAsking(target, folder, '--yes', ...args);

/** Imports into the project of the test run without asking. */
export const importFolder = (folder: string, ...args: string[]) => importInto(inject('stack'), folder, ...args);

/** Reads a folder as an import does, with the limits of the buckets and a single category, `calm`. */
export async function readFolder(folder: string) {
  const { found, sounds, notes } = await openFolder(folder);
  const { client } = connect(projectOf(envOf(inject('stack'))), new AbortController().signal);
  const measurements = createMeasurements();
  const limits = { audio: await limitsOf(client, 'audio'), covers: await limitsOf(client, 'covers') };
  const sheet = sounds ? readSheet(sounds) : { rows: [], rejected: [] };
  const gathered = await gather(found, sheet, [{ slug: 'calm', name: 'Calm' }], { limits, measurements });
  // Leave out the note about ffmpeg, because not every machine has it.
  const other = gathered.notes.filter(({ reason }) => !reason.startsWith('Without ffmpeg,'));
  return { ...gathered, notes: [...notes, ...other] };
}

export const readFiles = async (files: Files) => await readFolder(await makeFolder(files));

/**
 * Imports files into a new category. Its slug replaces `@` at the start of a name and anywhere in a sheet.
 * @returns the category, the folder, and functions that add files and import again, or return the sounds
 */
export async function imported(sql: Sql, files: Files, ...args: string[]) {
  const category = await addCategory(sql);
  const folder = await makeFolder();
  const next = async (more: Files = {}, ...options: string[]) => {
    for (const [name, content] of Object.entries(more)) {
      const inCategory = typeof content === 'string' ? content.replaceAll('@', category) : content;
      await addFiles(folder, { [name.replace(/^@/, category)]: inCategory });
    }
    return await importFolder(folder, ...options);
  };
  const { code, stdout, stderr } = await next(files, ...args);
  expect([code, stderr]).toEqual([0, '']);
  const path = (name: string) => join(folder, category, name);
  return { category, folder, path, stdout, next, sounds: () => soundsIn(sql, category) };
}

/** Returns the sounds of a category with their files, in list order. */
export const soundsIn = async (sql: Sql, category: string) =>
  await sql`
  select sound.*, audio.version as audio_version, cover.version as cover_version,
    audio.metadata ->> 'mimetype' as audio_type, audio.metadata ->> 'size' as audio_bytes
  from public.sounds as sound
    left join storage.objects as audio on audio.bucket_id = 'audio' and audio.name = audio_path
    left join storage.objects as cover on cover.bucket_id = 'covers' and cover.name = cover_image_path
  where category = ${category} order by created_at desc`;

export const titlesOf = (sounds: Awaited<ReturnType<typeof soundsIn>>) => sounds.map(({ title }) => title);
