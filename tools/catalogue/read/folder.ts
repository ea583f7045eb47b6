import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import mime from 'mime';
import { ImportError, type Problem } from '../shared/problems.ts';
import { type Csv, readCsv, sheetNamed } from './csv.ts';
import { MANIFEST, readManifest } from './manifest.ts';
import { SHEET } from './sheet.ts';
import { CATEGORY_SHEET, SECTION_SHEET } from './structure-sheets.ts';
import { type Found, walk } from './walk.ts';

/** Files of a folder, and the sheets in it. */
export interface Folder {
  found: Found;
  sounds: Csv | undefined;
  categories: Csv | undefined;
  sections: Csv | undefined;
  /** Sheets and other files that are not used. */
  notes: Problem[];
}

/** @throws ImportError if there is no such folder, or a sheet in it cannot be read */
export async function openFolder(folder: string): Promise<Folder> {
  const there = await stat(folder).catch(() => undefined);
  if (!there?.isDirectory()) throw new ImportError(`There is no folder ${folder}. Correct its path.`);
  const found = await walk(folder, await readManifest(folder));
  const names = [SHEET, CATEGORY_SHEET, SECTION_SHEET].map((name) => sheetNamed(name, found.sheets));
  const [sounds, categories, sections] = await Promise.all(
    names.map((name) => (name ? readCsv(folder, name) : undefined)),
  );
  const unread = found.sheets.filter((file) => !names.includes(file));
  return {
    found,
    sounds,
    categories,
    sections,
    notes: [
      ...unread.map((where) => ({ where, reason: whyUnread(where) })),
      ...notesAbout(found.others),
      ...found.notes,
    ],
  };
}

function whyUnread(file: string): string {
  if (!/\.csv$/i.test(file)) return `Not read. Save it as "CSV UTF-8", as ${SHEET} at the top of the folder.`;
  if (file.includes('/'))
    return `Not read: only ${SHEET} at the top of the folder is used. Move its lines there, with the path of each file.`;
  return `Not read: only ${SHEET} is used. Rename it, or move its lines there.`;
}

/** Counts the files that are not used, by extension. */
function notesAbout(others: string[]): Problem[] {
  const files = others.filter((file) => file !== MANIFEST);
  const kinds = Map.groupBy(files, (file) => posix.extname(file).toLowerCase());
  return [...kinds].map(([extension, [file = '', ...more]]) => {
    const kind = `${extension || 'no extension'} (${more.length + 1} files)`;
    const isVideo = mime.getType(extension)?.startsWith('video/');
    return {
      where: more.length === 0 ? file : kind,
      reason: isVideo
        ? 'Not imported: videos are not supported. Export the audio track as .m4a or .mp3.'
        : 'Not imported: this is not a supported format of recordings, pictures or sheets.',
    };
  });
}
