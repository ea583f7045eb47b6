import { stat } from 'node:fs/promises';
import { ImportError, type Problem } from '../shared/problems.ts';
import { type Csv, isSheet, readCsv, sheetNamed } from './csv.ts';
import { readManifest } from './manifest.ts';
import { SHEET } from './sheet.ts';
import { CATEGORY_SHEET, SECTION_SHEET } from './structure-sheets.ts';
import { type Found, walk } from './walk.ts';

/** What lies in a folder, with the sheets at its top. */
export interface Folder {
  found: Found;
  sounds: Csv | undefined;
  categories: Csv | undefined;
  sections: Csv | undefined;
  /** Sheets that are not read. */
  notes: Problem[];
}

/** @throws ImportError when it is not there, or a sheet in it cannot be understood */
export async function openFolder(folder: string): Promise<Folder> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new ImportError(`There is no folder ${folder}. Correct its path.`);
  const contents = await walk(folder, await readManifest(folder));
  const names = [SHEET, CATEGORY_SHEET, SECTION_SHEET].map((name) => sheetNamed(name, contents.sheets));
  const [sounds, categories, sections] = await Promise.all(
    names.map((name) => name && readCsv(folder, name)),
  );
  const unread = contents.sheets.filter((file) => isSheet(file) && !names.includes(file));
  return {
    found: contents,
    sounds: sounds || undefined,
    categories: categories || undefined,
    sections: sections || undefined,
    notes: unread.map((where) => ({ where, reason: whyUnread(where) })),
  };
}

function whyUnread(file: string): string {
  if (!/\.csv$/i.test(file)) return `Not read. Save it as "CSV UTF-8", as ${SHEET} at the top of the folder.`;
  if (file.includes('/'))
    return `Not read: only ${SHEET} at the top of the folder is. Move its lines there, with the folder before each file.`;
  return `Not read: only ${SHEET} is. Rename it, or move its lines there.`;
}
