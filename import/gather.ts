import PQueue from 'p-queue';
import type { Fields } from './fields.ts';
import type { BucketLimits, LocalFile } from './local-file.ts';
import { pictureFile, pictureOf } from './picture.ts';
import { asRefused, type Problem, Refused } from './problems.ts';
import { type Recording, readRecording } from './recording.ts';
import { readSheet, type Sheet } from './sheet.ts';
import { type Found, type FoundFile, walk } from './walk.ts';

/** What the folder says about one sound. What it does not say is left out. */
export interface Sound {
  file: string;
  fields: Fields;
  audio: LocalFile;
  picture?: LocalFile;
  /** What the sound goes without, and why. */
  notes: string[];
}

export interface Gathered {
  sounds: Sound[];
  refused: Problem[];
}

interface Limits {
  audio: BucketLimits;
  covers: BucketLimits;
}

const READ_AT_ONCE = 4;

/**
 * Reads a folder: the recordings in it, and what the sheet says about them.
 * @param onRead told how many of how many recordings have been read
 * @throws ImportError when the sheet cannot be understood
 */
export async function gather(
  folder: string,
  limits: Limits,
  onRead: (done: number, total: number) => void,
): Promise<Gathered> {
  const sheet = await readSheet(folder);
  const found = await walk(folder);
  const refused = [...found.refused, ...sheet.refused];
  for (const [file, { line }] of sheet.rows) {
    if (found.recordings.has(file)) continue;
    const reason = `There is no recording "${file}" in the folder. Correct the name or add the file.`;
    refused.push({ where: `sounds.csv line ${line}`, reason });
  }
  const recordings = [...found.recordings].filter(([file]) => !sheet.unusable.has(file));
  let done = 0;
  const read = async ([file, source]: [string, FoundFile]) => {
    const outcome = await readSound(file, source, found, sheet, limits).catch(asRefused);
    onRead(++done, recordings.length);
    if (!(outcome instanceof Refused)) return [outcome];
    refused.push({ where: file, reason: outcome.message });
    return [];
  };
  const queue = new PQueue({ concurrency: READ_AT_ONCE });
  const sounds = await queue.addAll(recordings.map((recording) => () => read(recording)));
  return { sounds: sounds.flat(), refused };
}

async function readSound(
  file: string,
  source: FoundFile,
  { pictures }: Found,
  sheet: Sheet,
  limits: Limits,
): Promise<Sound> {
  const recording: Recording = await readRecording(file, source, limits.audio);
  const { cover_image_path: named, ...said } = sheet.rows.get(file)?.fields ?? {};
  const notes: string[] = [];
  const picture = await (named
    ? pictureFile(named, pictures, limits.covers)
    : pictureOf(file, recording, pictures, limits.covers)
  ).catch((error: unknown) => {
    notes.push(`No picture: ${asRefused(error).message}`);
    return undefined;
  });
  const fields = { ...recording.fields, ...said, audio_path: recording.audio.path };
  return {
    file,
    fields: picture ? { ...fields, cover_image_path: picture.path } : fields,
    audio: recording.audio,
    ...(picture && { picture }),
    notes,
  };
}
