import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { type Catalogue, readCatalogue } from '../project/catalogue.ts';
import { readSections } from '../project/sections.ts';
import { listStored } from '../project/storage.ts';
import { connect, projectOf } from '../project/supabase.ts';
import { MANIFEST, readManifest, writeManifest } from '../read/manifest.ts';
import { SHEET } from '../read/sheet.ts';
import { CATEGORY_SHEET, SECTION_SHEET } from '../read/structure-sheets.ts';
import { isSkipped } from '../read/walk.ts';
import { abortAtSignals, exitWith } from '../shared/command.ts';
import { ImportError } from '../shared/problems.ts';
import { downloadAll, nameOf } from './download.ts';
import { categorySheet, sectionSheet, soundSheet } from './sheets.ts';

// `npm run export -- <folder>`: writes the catalogue into a folder that an import can read.

const USAGE = `Usage: npm run export -- <folder>

Writes the recordings, the pictures and everything about the sounds, categories and home sections into
a folder, which npm run import reads. Run again, it downloads only what has changed.`;

/**
 * @returns undefined for --help
 * @throws ImportError with the usage
 */
function readFolder(): string | undefined {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } });
    const [folder, ...more] = positionals;
    if (values.help) return undefined;
    if (folder === undefined || more.length > 0) throw new Error('Specify one folder.');
    return folder;
  } catch (error) {
    throw new ImportError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Returns the files that sounds refer to, by their names in the folder. */
function filesOf({ sounds }: Catalogue): Map<string, { bucket: 'audio' | 'covers'; path: string }> {
  const files = [...sounds.values()].flatMap(({ audio_path, cover_image_path }) => [
    ...(audio_path === null ? [] : [{ bucket: 'audio' as const, path: audio_path }]),
    ...(cover_image_path === null ? [] : [{ bucket: 'covers' as const, path: cover_image_path }]),
  ]);
  return new Map(files.map((file) => [nameOf(file.bucket, file.path), file]));
}

/** @throws ImportError if the folder holds something other than an export */
async function openTarget(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ImportError(`${folder} cannot be used as a folder (${code}). Choose another folder.`);
  });
  const names = await readdir(folder);
  if (!names.includes(MANIFEST) && names.some((name) => !/^(audio|covers)$/.test(name) && !isSkipped(name)))
    throw new ImportError(`${folder} is neither empty nor an export. Choose another folder.`);
}

async function exportInto(folder: string): Promise<void> {
  await openTarget(folder);
  const earlier = await readManifest(folder);
  readEnvFile();
  const project = projectOf(process.env);
  const interruption = new AbortController();
  const catalogue = await readCatalogue(connect(project, interruption.signal, 0).client);
  const connection = connect(project, interruption.signal);
  abortAtSignals(interruption);
  const sections = await readSections(connection.client);
  const named = filesOf(catalogue);
  const stored = await listStored(connection.client, [...named.values()]);
  const files = [...named.keys()].map((name) => stored.get(name)).filter((file) => file !== undefined);
  console.log(`From ${project.url} into ${folder}: ${catalogue.sounds.size} sounds, ${files.length} files.`);
  const fetched = await downloadAll(connection, folder, files).catch((error: unknown) => {
    if (interruption.signal.aborted) throw new ImportError('Interrupted. Run the export again to continue.');
    throw error;
  });
  await writeFile(join(folder, SHEET), soundSheet(catalogue, fetched));
  await writeFile(join(folder, CATEGORY_SHEET), categorySheet(catalogue.categories));
  await writeFile(join(folder, SECTION_SHEET), sectionSheet(sections));
  // Keep files that no sound uses any more, because an export is a backup.
  for (const file of fetched.values()) {
    const measured = catalogue.measurements.get(file.checksum);
    if (measured) file.measured = measured;
  }
  await writeManifest(folder, new Map([...earlier, ...fetched]));
  for (const name of named.keys()) if (!fetched.has(name)) console.log(`note  ${name} is missing from Storage.`);
  console.log('Done. npm run import reads the folder.');
}

await exitWith(async () => {
  const folder = readFolder();
  if (folder === undefined) console.log(USAGE);
  else await exportInto(folder);
  return true;
});
