import { isUtf8 } from 'node:buffer';
import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import mime from 'mime';
import { storedExtension } from '../shared/paths.ts';
import { asRejected, type Problem, type Rejected } from '../shared/problems.ts';
import { isSheet } from './csv.ts';
import type { ExportedFile } from './manifest.ts';

export interface FoundFile {
  source: string;
  /** MIME type of the extension. */
  type: string;
  isLink: boolean;
  /** Entry of the manifest, if an export wrote the file. */
  exported?: ExportedFile;
}

/** Files of a folder in alphabetical order, by their names relative to it: with `/`, and in NFC. */
export interface Found {
  recordings: Map<string, FoundFile>;
  pictures: Map<string, FoundFile>;
  sheets: string[];
  /** Files of other kinds. */
  others: string[];
  /** Files and folders that cannot be read. */
  rejected: Problem[];
}

/** Extensions of video that may contain only audio. The content decides later. */
const AUDIO_AS_WELL = new Map([
  ['.mp4', 'audio/mp4'],
  ['.webm', 'audio/webm'],
]);

/** Examples for the message about an empty folder. Other audio types are accepted, too. */
export const COMMON_EXTENSIONS = '.mp3, .m4a, .mp4, .aac, .wav, .flac, .ogg, .opus, .webm';

/** Matches playlists, and Speex, which apps do not play. */
const NO_RECORDING = /\.(m3u8?|pls|spx)$/i;

/**
 * Finds the files of a folder and of the folders below it. Skips hidden ones and links to folders.
 * @param exported the manifest of an export, by the names of files in the folder
 */
export async function walk(folder: string, exported: Map<string, ExportedFile>): Promise<Found> {
  const found: Found = { recordings: new Map(), pictures: new Map(), sheets: [], others: [], rejected: [] };
  await look(folder, '', found, exported);
  return found;
}

async function look(folder: string, below: string, found: Found, manifest: Map<string, ExportedFile>): Promise<void> {
  const entries = await entriesOf(folder).catch((error: unknown) => {
    const { message }: Rejected = asRejected(error);
    found.rejected.push({ where: `${below || '.'}/`, reason: message });
    return [];
  });
  for (const { name, isText, entry } of entries) {
    if (name.startsWith('.')) continue;
    const file = posix.join(below, name.normalize('NFC'));
    const reject = (reason: string) => found.rejected.push({ where: file, reason });
    const source = join(folder, name);
    const isLink = entry.isSymbolicLink();
    const exported = manifest.get(file);
    if (!isText) reject('Its name is not in UTF-8. Rename it.');
    else if (entry.isDirectory()) await look(source, file, found, manifest);
    else if (isSheet(name)) found.sheets.push(file);
    else if (found.recordings.has(file) || found.pictures.has(file))
      reject('Another file has this name, with its accents written in another form of Unicode. Rename one.');
    else if (exported) {
      const files = exported.bucket === 'audio' ? found.recordings : found.pictures;
      files.set(file, { source, type: exported.type, isLink, exported });
    } else addByType(file, { source, isLink }, found);
  }
}

/**
 * Lists a folder in alphabetical order. If names differ only in their form of Unicode, NFC comes first.
 * @returns entries; `isText` is false if a name is not valid UTF-8, and `name` is then decoded as Latin-1
 */
async function entriesOf(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  const named = entries.map((entry) => {
    const isText = isUtf8(entry.name);
    return { name: entry.name.toString(isText ? 'utf8' : 'latin1'), isText, entry };
  });
  const isComposed = ({ name }: { name: string }) => name === name.normalize('NFC');
  return named.sort(
    (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }) || Number(isComposed(b)) - Number(isComposed(a)),
  );
}

function addByType(file: string, where: Omit<FoundFile, 'type'>, found: Found): void {
  const extension = storedExtension(file);
  const type = AUDIO_AS_WELL.get(extension) ?? mime.getType(extension);
  if (type?.startsWith('audio/') && !NO_RECORDING.test(file)) found.recordings.set(file, { ...where, type });
  else if (type?.startsWith('image/')) found.pictures.set(file, { ...where, type });
  else found.others.push(file);
}
