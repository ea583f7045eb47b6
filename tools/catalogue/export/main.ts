import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnvFile } from '@sounds-service/local-supabase/env-file';
import { readCatalogue, readSections } from '../project/catalogue.ts';
import { filesOf, listStored, nameOf } from '../project/storage.ts';
import { connect, projectOf } from '../project/supabase.ts';
import { manifestFile, readManifest, writeManifest } from '../read/manifest.ts';
import { soundFile } from '../read/sheet.ts';
import { categoryFile, sectionFile } from '../read/structure-sheets.ts';
import { isSkipped } from '../read/walk.ts';
import { abortAtSignals, exitWith, folderIn } from '../shared/command.ts';
import { isInTrash } from '../shared/fields.ts';
import { ImportError } from '../shared/problems.ts';
import { downloadAll } from './download.ts';
import { categorySheet, sectionSheet, soundSheet } from './sheets.ts';
import { notesAboutRules, withoutTrash } from './trash.ts';

// `npm run export -- <folder>`: writes the catalogue into a folder that an import can read.

const usage = `Usage: npm run export -- <folder>

Writes the recordings, the pictures and everything about the sounds, categories and home sections into
a folder, which npm run import reads. Run again, it downloads only what has changed.`;

/** Creates the folder, or checks that it is an export. @throws ImportError if it holds anything else */
async function openTarget(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new ImportError(`${folder} cannot be used as a folder (${code}). Choose another folder.`);
  });
  const names = await readdir(folder);
  if (!names.includes(manifestFile) && names.some((name) => !/^(audio|covers)$/.test(name) && !isSkipped(name)))
    throw new ImportError(`${folder} is neither empty nor an export. Choose another folder.`);
}

await exitWith(usage, async () => {
  const folder = folderIn(parseArgs({ allowPositionals: true }).positionals, usage);
  await openTarget(folder);
  const earlier = await readManifest(folder);
  readEnvFile();
  const project = projectOf(process.env);
  const interruption = new AbortController();
  const stored = await readCatalogue(connect(project, interruption.signal, 0).client);
  const connection = connect(project, interruption.signal);
  abortAtSignals(interruption);
  const sections = (await readSections(connection.client, stored.sounds)).filter((section) => !isInTrash(section));
  const catalogue = withoutTrash(stored);
  const named = [...catalogue.sounds.values()].flatMap(filesOf);
  const names = new Set(named.map(nameOf));
  const files = [...(await listStored(connection.client, named)).values()].filter((file) => names.has(nameOf(file)));
  console.log(`From ${project.url} into ${folder}: ${catalogue.sounds.size} sounds, ${files.length} files.`);
  const fetched = await downloadAll(connection, folder, files).catch((error: unknown) => {
    if (interruption.signal.aborted) throw new ImportError('Interrupted. Run the export again to continue.');
    throw error;
  });
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
  return true;
});
