import { stat } from 'node:fs/promises';
import { fileTypeFromFile } from 'file-type';
import { type IAudioMetadata, parseFile } from 'music-metadata';
import type { Fields } from '../shared/fields.ts';
import { type BucketLimits, checksumOf, type LocalFile, limitProblem } from '../shared/local-file.ts';
import { readableTitle, storagePath } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import type { FoundFile } from './walk.ts';

/** One recording of the folder, as far as the recording itself tells. */
export interface Recording {
  fields: Fields;
  audio: LocalFile;
  /** Without that of a file as it was exported: the sheet of the export says it all. */
  metadata?: IAudioMetadata;
}

/**
 * Reads a recording: its tags, its length as measured in its stream, its checksum.
 * @throws Rejected when it cannot be imported, and errors of the file system
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
  if (path === exported?.path) return { fields: {}, audio };
  const metadata = await readMetadata(source, type);
  const comment = commentIn(metadata);
  return {
    fields: {
      title: clean(metadata.common.title) || readableTitle(file),
      duration_sec: Math.round((metadata.format.duration ?? 0) * 1000) / 1000,
      ...(comment && { description: comment }),
    },
    audio,
    metadata,
  };
}

/** @throws Rejected when it is not a recording */
async function readMetadata(source: string, type: string): Promise<IAudioMetadata> {
  if (/mpeg|aac/.test(type)) await requireMpeg(source);
  const metadata = await parseFile(source, { duration: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) throw error;
    return undefined;
  });
  const { duration, hasVideo } = metadata?.format ?? {};
  if (!metadata || !duration) {
    const reason = 'It cannot be read as audio, or its length cannot be measured.';
    throw new Rejected(`${reason} Check that it plays, and export it again.`);
  }
  if (hasVideo) throw new Rejected('It is a video. Export only its audio track.');
  return metadata;
}

/**
 * MPEG audio has no signature: its parser looks for a frame anywhere, and may find one by chance in a file of another format.
 * @throws Rejected when the file has the signature of one
 */
async function requireMpeg(source: string): Promise<void> {
  const found = await fileTypeFromFile(source);
  if (found && !/^mp[123]$|^aac$/.test(found.ext))
    throw new Rejected(`It is actually a .${found.ext} file. Rename it, or export it as MP3.`);
}

/** The comment for people: one with a descriptor is a program's note to itself. ffmpeg has a place of its own in MP3. */
function commentIn({ common, native }: IAudioMetadata): string | undefined {
  const comment = common.comment?.find(({ text, descriptor }) => text && !descriptor)?.text;
  const tag = Object.values(native)
    .flat()
    .find(({ id }) => id === 'TXXX:comment');
  return clean(comment ?? (typeof tag?.value === 'string' ? tag.value : undefined));
}

/** Trimmed, composed as the database composes titles, and without the NUL that some taggers end texts with. */
function clean(text: string | undefined): string | undefined {
  return text?.replaceAll('\0', '').normalize('NFC').trim();
}
