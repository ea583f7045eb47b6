import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import mime from 'mime';
import { asRefused, type Problem, type Refused } from './problems.ts';

export interface FoundFile {
  source: string;
  /** What the extension stands for, such as `audio/mpeg`. */
  type: string;
}

/** What lies in a folder, in the order of the alphabet, by names in the folder: with `/`, and composed, as not every system has them. */
export interface Found {
  recordings: Map<string, FoundFile>;
  pictures: Map<string, FoundFile>;
  /** What could not be looked at. */
  refused: Problem[];
}

/** Extensions that can stand for video, too; what is in the file is looked at later. */
const AUDIO_AS_WELL = new Map([
  ['.mp4', 'audio/mp4'],
  ['.webm', 'audio/webm'],
]);

/** For people who have none of them in their folder; others of audio types are recordings, too. */
export const COMMON_EXTENSIONS = '.mp3, .m4a, .mp4, .aac, .wav, .flac, .ogg, .opus, .webm';

const PLAYLIST = /mpegurl|scpls/;

/** Finds the audio files and pictures of a folder and those below it. Hidden ones, and links to folders, are passed over. */
export async function walk(folder: string): Promise<Found> {
  const found: Found = { recordings: new Map(), pictures: new Map(), refused: [] };
  await look(folder, '', found);
  return found;
}

async function look(folder: string, below: string, found: Found): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const { message }: Refused = asRefused(error);
    found.refused.push({ where: `${below || '.'}/`, reason: message });
    return [];
  });
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    if (entry.name.startsWith('.')) continue;
    const file = posix.join(below, entry.name.normalize('NFC'));
    const source = join(folder, entry.name);
    if (entry.isDirectory()) {
      await look(source, file, found);
      continue;
    }
    const type = AUDIO_AS_WELL.get(posix.extname(file).toLowerCase()) ?? mime.getType(file);
    if (type?.startsWith('audio/') && !PLAYLIST.test(type)) found.recordings.set(file, { source, type });
    if (type?.startsWith('image/')) found.pictures.set(file, { source, type });
  }
}
