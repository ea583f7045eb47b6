import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileTypeFromFile } from 'file-type';
import { type IAudioMetadata, parseFile, parseStream } from 'music-metadata';
import type { Fields } from '../shared/fields.ts';
import { type BucketLimits, checksumOf, type LocalFile, limitProblem } from '../shared/local-file.ts';
import { readableTitle, storagePath } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import { measure } from './length.ts';
import { readTags } from './tags.ts';
import type { FoundFile } from './walk.ts';

export interface Recording {
  fields: Fields;
  audio: LocalFile;
  /** Undefined for an unchanged file of an export, because the sheet of the export has all fields. */
  metadata?: IAudioMetadata;
  notes: string[];
}

/**
 * Reads a recording: its tags, its length, its checksum.
 * @throws Rejected if it cannot be imported, and errors of the file system
 */
export async function readRecording(
  file: string,
  { source, type, exported }: FoundFile,
  limits: BucketLimits,
): Promise<Recording> {
  const { size, mtimeMs: changedMs } = await stat(source);
  if (size === 0) throw new Rejected('The file is empty. Export the recording again.');
  const problem = limitProblem(file, type, size, limits);
  if (problem) throw new Rejected(`${problem} Convert it, or edit the bucket "audio" in the dashboard.`);
  const checksum = await checksumOf(source);
  const path = exported?.checksum === checksum ? exported.path : storagePath(file, checksum);
  const audio: LocalFile = { bucket: 'audio', path, type, size, checksum, source, changedMs };
  if (path === exported?.path) return { fields: {}, audio, notes: [] };
  if (/mpeg|aac/.test(type)) await requireMpeg(source);
  const { seconds, bytes } = measure(source);
  const metadata = await parse(source, type, bytes < size ? bytes : undefined);
  const length = seconds ?? metadata?.format.duration;
  if (!metadata || !length) {
    const reason = 'It cannot be read as audio, or its length cannot be measured.';
    throw new Rejected(`${reason} Check that it plays, and export it again.`);
  }
  if (metadata.format.hasVideo) throw new Rejected('It is a video. Export only its audio track.');
  const { title = readableTitle(file), description, notes } = readTags(metadata);
  if (bytes < size)
    notes.push('It contains several joined recordings, and apps play only the first. Export them as one.');
  return {
    fields: { title, duration_sec: Math.round(length * 1000) / 1000, ...(description && { description }) },
    audio,
    metadata,
    notes,
  };
}

/**
 * Reads the tags of a recording, or of the first of several joined ones.
 * @param first size of the first recording
 * @returns undefined if it is not a recording
 */
async function parse(source: string, type: string, first?: number): Promise<IAudioMetadata | undefined> {
  const parsing =
    first === undefined
      ? parseFile(source)
      : parseStream(createReadStream(source, { end: first - 1 }), { mimeType: type, size: first });
  return await parsing.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) throw error;
    return undefined;
  });
}

/**
 * Rejects other formats, because MPEG audio has no signature and its parser may find a frame in them by chance.
 * @throws Rejected if the file has the signature of another format
 */
async function requireMpeg(source: string): Promise<void> {
  const found = await fileTypeFromFile(source);
  if (found && !/^mp[123]$|^aac$/.test(found.ext))
    throw new Rejected(`It is actually a .${found.ext} file. Rename it, or export it as MP3.`);
}
