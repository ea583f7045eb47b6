import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Catalogue, readCatalogue, readSections } from '../project/catalogue.ts';
import { filesOf, listStored, nameOf } from '../project/storage.ts';
import { type Connection, connect, projectOf } from '../project/supabase.ts';
import { manifestFile, readManifest, writeManifest } from '../read/manifest.ts';
import { soundFile } from '../read/sheet.ts';
import { categoryFile, sectionFile } from '../read/structure-sheets.ts';
import { isSkipped } from '../read/walk.ts';
import { abortAtSignals } from '../shared/command.ts';
import { isInTrash } from '../shared/fields.ts';
import { ImportError } from '../shared/problems.ts';
import { downloadAll } from './download.ts';
import { categorySheet, sectionSheet, soundSheet } from './sheets.ts';
import { notesAboutRules, withoutTrash } from './trash.ts';

/** Creates the folder, or checks that it is an export. @throws ImportError if it holds anything else */
async function openTarget(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ImportError(`${folder} cannot be used as a folder (${code}). Choose another folder.`);
  });
  const names = await readdir(folder);
  if (!names.includes(manifestFile) && names.some((name) => !/^(audio|covers)$/.test(name) && !isSkipped(name)))
    throw new ImportError(`${folder} is neither empty nor an export. Choose another folder.`);
}

/**
 * Writes the catalogue into a folder that an import can read.
 * @param folder a new or empty folder, or an earlier export, of which only changes are downloaded
 * @param env environment variables that name the project
 * @throws ImportError
 */
export async function exportCatalogue(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  await openTarget(folder);
  const project = projectOf(env);
  const interruption = new AbortController();
  const stored = await readCatalogue(connect(project, interruption.signal, 0).client);
  const ignoreSignals = abortAtSignals(interruption);
  try {
    await writeExport(folder, connect(project, interruption.signal), stored);
  } catch (error) {
    if (interruption.signal.aborted) throw new ImportError('Interrupted. Run the export again to continue.');
    throw error;
  } finally {
    ignoreSignals();
  }
}

/** Downloads the files that have changed, and writes the sheets and the manifest. */
async function writeExport(folder: string, connection: Connection, stored: Catalogue): Promise<void> {
  const earlier = await readManifest(folder);
  const sections = (await readSections(connection.client, stored.sounds)).filter((section) => !isInTrash(section));
  const catalogue = withoutTrash(stored);
  const named = [...catalogue.sounds.values()].flatMap(filesOf);
  const names = new Set(named.map(nameOf));
  const files = [...(await listStored(connection.client, named)).values()].filter((file) => names.has(nameOf(file)));
  console.log(`From ${connection.project.url} into ${folder}: ${catalogue.sounds.size} sounds, ${files.length} files.`);
  const fetched = await downloadAll(connection, folder, files);
  await writeFile(join(folder, soundFile), soundSheet(catalogue, fetched));
  await writeFile(join(folder, categoryFile), categorySheet(catalogue.categories));
  await writeFile(join(folder, sectionFile), sectionSheet(sections));
  for (const file of fetched.values()) {
    const measured = catalogue.measurements.get(file.checksum);
    if (measured) file.measured = measured;
  }
  // Keep files that no sound uses any more, because an export is a backup.
  await writeManifest(folder, new Map([...earlier, ...fetched]));
  for (const note of notesAboutRules(sections, stored.categories)) console.log(`note  ${note}`);
  for (const name of names) if (!fetched.has(name)) console.log(`note  ${name} is missing from Storage.`);
  console.log('Done. npm run import reads the folder.');
}
