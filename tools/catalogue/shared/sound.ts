import { posix } from 'node:path';
import type { Fields } from './fields.ts';
import type { LocalFile } from './local-file.ts';

/** What a folder says about one sound. What it does not say is left out. */
export interface Sound {
  /** Name of the recording in the folder; undefined for a row of the sheet without one. */
  file: string | undefined;
  /** Tells sounds apart that share a recording, or have none; empty for all others. */
  key: string;
  /** What the recording and the folder tell. */
  fields: Fields;
  /** What the sheet decides. */
  said: Fields;
  /** For a new sound, where the sheet says it: an ISO 8601 date-time in UTC. */
  createdAt?: string;
  audio?: LocalFile;
  picture?: LocalFile;
  /** Whether the recording is a symbolic link. */
  isLink: boolean;
  /** What the sound goes without, and why. */
  notes: string[];
}

/** Whether a key is the id of a sound, as an export writes it. */
export const isId = (key: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key);

/** What reports call a sound. */
export function nameOf({ file, key }: Pick<Sound, 'file' | 'key'>): string {
  if (file === undefined) return key;
  return key === '' || isId(key) ? file : `${file} [${key}]`;
}

/** The folders that a sound lies in, from the top. */
export function foldersOf(file: string | undefined): string[] {
  return posix
    .dirname(file ?? '.')
    .split('/')
    .filter((folder) => folder !== '.');
}
