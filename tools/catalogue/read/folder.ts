import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import mime from 'mime';
import { ImportError, type Problem } from '../shared/problems.ts';
import { oneOrMany } from '../shared/text.ts';
import { readCsv } from './csv.ts';
import { manifestFile, readManifest } from './manifest.ts';
import { soundFile } from './sheet.ts';
import { categoryFile, sectionFile } from './structure-sheets.ts';
import { walk } from './walk.ts';

export type Folder = Awaited<ReturnType<typeof openFolder>>;

/**
 * Finds the files of a folder, and reads the sheets in it.
 * @returns also notes about sheets and other files that are not used
 * @throws ImportError if there is no such folder, or a sheet in it cannot be read
 */
export async function openFolder(folder: string) {
  const there = await stat(folder).catch(() => undefined);
  if (!there?.isDirectory()) throw new ImportError(`There is no folder ${folder}. Correct its path.`);
  const found = await walk(folder, await readManifest(folder));
  const { sheets, others, notes } = found;
  const needed = [manifestFile, soundFile, categoryFile, sectionFile];
  const away = [...found.inCloud].find((file) => needed.includes(file.toLowerCase()));
  if (away) throw new ImportError(`${away} is in iCloud only. Download it in the Finder, then run the import again.`);
  const names = [soundFile, categoryFile, sectionFile].map((name) =>
    sheets.includes(name) ? name : sheets.find((file) => file.toLowerCase() === name),
  );
  const [sounds, categories, sections] = await Promise.all(
    names.map((name) => (name ? readCsv(folder, name) : undefined)),
  );
  const unread = sheets.filter((file) => !names.includes(file)).map((where) => ({ where, reason: whyUnread(where) }));
  return { found, sounds, categories, sections, notes: [...unread, ...notesAbout(others), ...notes] };
}

function whyUnread(file: string): string {
  if (!/\.csv$/i.test(file)) return `Not read. Save it as "CSV UTF-8", as ${soundFile} at the top of the folder.`;
  if (file.includes('/'))
    return `Not read: only ${soundFile} at the top of the folder is used. Move its lines there, with the path of each file.`;
  return `Not read: only ${soundFile} is used. Rename it, or move its lines there.`;
}

/** Counts the files that are not used, by extension. */
function notesAbout(others: string[]): Problem[] {
  const files = others.filter((file) => file !== manifestFile);
  const kinds = Map.groupBy(files, (file) => posix.extname(file).toLowerCase());
  return [...kinds].map(([extension, same]) => ({
    where: oneOrMany(same, `${extension || 'no extension'} (${same.length} files)`),
    reason: mime.getType(extension)?.startsWith('video/')
      ? 'Not imported: videos are not supported. Export the audio track as .m4a or .mp3.'
      : 'Not imported: this is not a supported format of recordings, pictures or sheets.',
  }));
}
