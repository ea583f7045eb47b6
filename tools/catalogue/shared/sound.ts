import { posix } from 'node:path';
import type { Fields } from './fields.ts';
import type { LocalFile } from './local-file.ts';

/** One sound of a folder. Fields without a value are left out. */
export interface Sound {
  /** Name of the recording in the folder; undefined for a row of the sheet without one. */
  file: string | undefined;
  /** Distinguishes sounds that share a recording or have none; empty for all others. */
  key: string;
  /** Fields from the recording and the folder. */
  fields: Fields;
  /** Fields from the sheet, which override the others. */
  sheetFields: Fields;
  /** Creation time of a new sound in ISO 8601 and UTC, if the sheet has one. */
  createdAt: string | undefined;
  audio: LocalFile | undefined;
  picture: LocalFile | undefined;
  /** True if the recording is a symbolic link. */
  isLink: boolean;
  /** Notes about parts that are not imported, with the reason. */
  notes: string[];
}

/** Tells whether a key is the id of a sound, as in an export. */
export const isId = (key: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key);

/** Returns the name of a sound in reports. */
export function nameOf({ file, key = '' }: Partial<Pick<Sound, 'file' | 'key'>>): string {
  if (file === undefined) return key;
  return key === '' || isId(key) ? file : `${file} [${key}]`;
}

/** Returns the folders of a sound, from the top. */
export const foldersOf = (file = '.') =>
  posix
    .dirname(file)
    .split('/')
    .filter((folder) => folder !== '.');
