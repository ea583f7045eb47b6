import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnvFile } from 'local-supabase/env-file';
import PQueue from 'p-queue';
import { type Catalogue, readCatalogue } from './catalogue.ts';
import { abortAtSignals, exitWith, isTerminal } from './command.ts';
import { download } from './download.ts';
import { categorySheet, sectionSheet, soundSheet } from './export-sheets.ts';
import { type ExportedFile, MANIFEST, readManifest, writeManifest } from './manifest.ts';
import { ImportError } from './problems.ts';
import { showBytes } from './progress.ts';
import { readSections } from './sections.ts';
import { SHEET } from './sheet.ts';
import { listStored, type StoredFile } from './storage.ts';
import { CATEGORY_SHEET, SECTION_SHEET } from './structure.ts';
import { type Connection, connect, projectOf, retry } from './supabase.ts';

// `npm run export -- <folder>`: writes the catalogue into a folder, from which an import makes it again.

const USAGE = `Usage: npm run export -- <folder>

Writes the recordings, the pictures and everything about the sounds, categories and home sections into
a folder, which npm run import reads. Run again, it fetches only what has changed.`;

/** @throws ImportError with the usage */
function readFolder(): string | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean' } },
    });
    const [folder, ...more] = positionals;
    if (values.help) return undefined;
    if (folder === undefined || more.length > 0) throw new Error('Specify one folder.');
    return folder;
  } catch (error) {
    throw new ImportError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

const keyOf = (bucket: string, path: string | null) => `${bucket}/${path}`;

/** The files that sounds name. */
function filesOf({ sounds }: Catalogue): { bucket: 'audio' | 'covers'; path: string }[] {
  return [...sounds.values()].flatMap(({ audio_path, cover_image_path }) => [
    ...(audio_path === null ? [] : [{ bucket: 'audio' as const, path: audio_path }]),
    ...(cover_image_path === null ? [] : [{ bucket: 'covers' as const, path: cover_image_path }]),
  ]);
}

const FILES_AT_ONCE = 4;

/** Fetches files into the folder, below one for each bucket. @returns them as the manifest has them */
async function fetchFiles(
  connection: Connection,
  folder: string,
  files: StoredFile[],
): Promise<Map<string, ExportedFile>> {
  const fetched = new Map<string, ExportedFile>();
  const progress = showBytes(
    files.reduce((sum, { size }) => sum + size, 0),
    isTerminal,
  );
  const queue = new PQueue({ concurrency: FILES_AT_ONCE });
  const fetchOne = async (file: StoredFile) => {
    const { bucket, path, type } = file;
    const name = keyOf(bucket, path);
    const attempt = () => download(connection, file, join(folder, name), progress.add);
    const checksum = await retry(attempt, connection.signal).catch((error: Error) => {
      if (error instanceof ImportError) throw error;
      throw new ImportError(`${name} cannot be fetched: ${error.message}. Run the export again to continue.`);
    });
    fetched.set(name, { bucket, path, type, checksum });
  };
  try {
    await queue.addAll(files.map((file) => () => fetchOne(file)));
  } finally {
    queue.clear();
    progress.close();
  }
  return fetched;
}

async function exportInto(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ImportError(`${folder} cannot be used as a folder (${code}). Choose another folder.`);
  });
  const earlier = await readManifest(folder);
  const names = await readdir(folder);
  if (!names.includes(MANIFEST) && names.some((name) => !/^(audio|covers)$/.test(name)))
    throw new ImportError(`${folder} is not empty, and no export. Choose another folder.`);
  readEnvFile();
  const project = projectOf(process.env);
  const interruption = new AbortController();
  const catalogue = await readCatalogue(connect(project, interruption.signal, 0).client);
  const connection = connect(project, interruption.signal);
  abortAtSignals(interruption);
  const { client } = connection;
  const sections = await readSections(client);
  const named = new Map(filesOf(catalogue).map((file) => [keyOf(file.bucket, file.path), file]));
  const stored = await listStored(client, [...named.values()]);
  const files = [...named.keys()].map((key) => stored.get(key)).filter((file) => file !== undefined);
  console.log(`From ${project.url} into ${folder}: ${catalogue.sounds.size} sounds, ${files.length} files.`);
  const fetched = await fetchFiles(connection, folder, files).catch((error: unknown) => {
    if (interruption.signal.aborted) throw new ImportError('Interrupted. Run the export again to continue.');
    throw error;
  });
  const nameOf = (bucket: string, path: string | null) =>
    fetched.has(keyOf(bucket, path)) ? keyOf(bucket, path) : undefined;
  await writeFile(join(folder, SHEET), soundSheet(catalogue, nameOf));
  await writeFile(join(folder, CATEGORY_SHEET), categorySheet(catalogue.categories));
  await writeFile(join(folder, SECTION_SHEET), sectionSheet(sections));
  // What no sound has any more stays: this is a backup.
  await writeManifest(folder, new Map([...earlier, ...fetched]));
  for (const key of named.keys()) if (!fetched.has(key)) console.log(`note  ${key} is missing from Storage.`);
  console.log('Done. npm run import reads the folder.');
  return true;
}

await exitWith(async () => {
  const folder = readFolder();
  if (folder !== undefined) return await exportInto(folder);
  console.log(USAGE);
  return true;
});
