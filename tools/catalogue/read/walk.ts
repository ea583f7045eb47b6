import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import mime from 'mime';
import { asRejected, type Problem, type Rejected } from '../shared/problems.ts';
import { isSheet } from './csv.ts';
import type { ExportedFile } from './manifest.ts';

export interface FoundFile {
  source: string;
  /** What the extension stands for, such as `audio/mpeg`. */
  type: string;
  isLink: boolean;
  /** What it was when it was exported. */
  exported?: ExportedFile;
}

/** What lies in a folder, in the order of the alphabet, by names in the folder: with `/`, and composed, as not every system has them. */
export interface Found {
  recordings: Map<string, FoundFile>;
  pictures: Map<string, FoundFile>;
  sheets: string[];
  /** What could not be looked at. */
  rejected: Problem[];
}

/** Extensions that can stand for video, too; what is in the file is looked at later. */
const AUDIO_AS_WELL = new Map([
  ['.mp4', 'audio/mp4'],
  ['.webm', 'audio/webm'],
]);

/** For people who have none of them in their folder; others of audio types are recordings, too. */
export const COMMON_EXTENSIONS = '.mp3, .m4a, .mp4, .aac, .wav, .flac, .ogg, .opus, .webm';

const PLAYLIST = /mpegurl|scpls/;

/**
 * Finds the audio files, pictures and sheets of a folder and those below it. Hidden ones, and links to folders, are passed over.
 * @param exported files of an export, by their names in the folder
 */
export async function walk(folder: string, exported: Map<string, ExportedFile>): Promise<Found> {
  const found: Found = { recordings: new Map(), pictures: new Map(), sheets: [], rejected: [] };
  await look(folder, '', found, exported);
  return found;
}

async function look(
  folder: string,
  below: string,
  found: Found,
  manifest: Map<string, ExportedFile>,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const { message }: Rejected = asRejected(error);
    found.rejected.push({ where: `${below || '.'}/`, reason: message });
    return [];
  });
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    if (entry.name.startsWith('.')) continue;
    const file = posix.join(below, entry.name.normalize('NFC'));
    const source = join(folder, entry.name);
    const isLink = entry.isSymbolicLink();
    if (entry.isDirectory()) {
      await look(source, file, found, manifest);
      continue;
    }
    const exported = manifest.get(file);
    if (isSheet(entry.name)) found.sheets.push(file);
    else if (exported)
      mapFor(exported.bucket, found).set(file, { source, type: exported.type, isLink, exported });
    else addByType(file, { source, isLink }, found);
  }
}

const mapFor = (bucket: ExportedFile['bucket'], { recordings, pictures }: Found) =>
  bucket === 'audio' ? recordings : pictures;

function addByType(file: string, where: Omit<FoundFile, 'type'>, { recordings, pictures }: Found): void {
  const type = AUDIO_AS_WELL.get(posix.extname(file).toLowerCase()) ?? mime.getType(file);
  if (type?.startsWith('audio/') && !PLAYLIST.test(type)) recordings.set(file, { ...where, type });
  if (type?.startsWith('image/')) pictures.set(file, { ...where, type });
}
