import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileTypeFromFile } from 'file-type';
import { type IAudioMetadata, parseFile } from 'music-metadata';
import type { Measured, Measurements } from '../project/measurements.ts';
import type { Fields } from '../shared/fields.ts';
import { type BucketLimits, checksumOf, type LocalFile, limitProblem } from '../shared/local-file.ts';
import { readableTitle, storagePath, storedExtension } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import { INSTALL_FFMPEG, IS_PROTECTED, IS_VIDEO, measure, NoFfmpeg } from './measure.ts';
import { readTags } from './tags.ts';
import type { FoundFile } from './walk.ts';

export interface Recording {
  fields: Fields;
  audio: LocalFile;
  /** Undefined without ffmpeg. */
  measured: Measured | undefined;
  /** Undefined for an unchanged file of an export, because the sheet of the export has all fields. */
  metadata?: IAudioMetadata;
  notes: string[];
}

/** Extensions of files and their contents, by the demuxer of ffmpeg that reads them. */
const DEMUXERS = {
  mp3: /^\.mp3$/,
  aac: /^\.aac$/,
  mov: /^\.(m4[ap]|mp4)$/,
  flac: /^\.flac$/,
  ogg: /^\.(og[ga]|opus)$/,
  wav: /^\.wav$/,
  matroska: /^\.webm$/,
  aiff: /^\.aif[fc]?$/,
};

type Demuxer = keyof typeof DEMUXERS | undefined;

const demuxerOf = (file: string) =>
  Object.entries(DEMUXERS).find(([, extensions]) => extensions.test(storedExtension(file)))?.[0] as Demuxer;

/**
 * Reads a recording: its tags, its checksum, and the measurements of its audio.
 * @throws Rejected if it cannot be imported, and errors of the file system
 */
export async function readRecording(
  file: string,
  { source, type, exported }: FoundFile,
  limits: BucketLimits,
  measurements: Measurements,
): Promise<Recording> {
  const { size, mtimeMs: changedMs } = await stat(source);
  if (size === 0) throw new Rejected('The file is empty. Export the recording again.');
  const problem = limitProblem(file, type, size, limits);
  if (problem) throw new Rejected(`${problem} Convert it, or edit the bucket "audio" in the dashboard.`);
  const checksum = await checksumOf(source);
  const isExported = exported?.checksum === checksum;
  const path = isExported ? exported.path : storagePath(file, checksum);
  const { demuxer, isCertain } = isExported
    ? { demuxer: demuxerOf(file), isCertain: true }
    : await kindOf(file, source);
  const measureOnce = async () => (isExported && exported.measured) || (await measure(source, size, demuxer));
  const measured = await measurements.once(checksum, measureOnce).catch((error: unknown) => {
    if (error instanceof NoFfmpeg || isExported) return undefined;
    throw error;
  });
  const { duration_sec, ...facts } = measured?.facts ?? { duration_sec: undefined };
  const audio: LocalFile = { bucket: 'audio', path, type, size, checksum, source, changedMs, facts };
  if (isExported) return { fields: {}, audio, measured, notes: [] };
  const metadata = measured || isCertain ? await parse(source, !measured) : undefined;
  const { title = readableTitle(file), description, notes = [] } = metadata ? readTags(metadata) : {};
  const start = HEADERS[demuxer ?? ''];
  if (start !== undefined && (await isJoined(source, start)))
    notes.push('It contains several joined recordings, and many apps play only the first. Export them as one.');
  const length = duration_sec ?? lengthIn(metadata);
  const fields = { title, duration_sec: length, ...(description && { description }) };
  return { fields, audio, measured, ...(metadata && { metadata }), notes };
}

/**
 * Finds the format of a recording. It is uncertain for a part of MPEG audio and for RF64, which have no known signature.
 * @throws Rejected if the content is of another format than the name
 */
export async function kindOf(file: string, source: string): Promise<{ demuxer: Demuxer; isCertain: boolean }> {
  const found = await fileTypeFromFile(source);
  const demuxer = demuxerOf(file);
  if (!found && !/^(mp3|aac|wav)$/.test(demuxer ?? ''))
    throw new Rejected('It cannot be read as audio. Check that it plays, and export it again.');
  if (found && demuxerOf(`x.${found.ext}`) !== demuxer)
    throw new Rejected(`It is actually a .${found.ext}: rename it, or export it again.`);
  // Layer I is so rare that a file is more likely to be damaged.
  return { demuxer, isCertain: found !== undefined && found.ext !== 'mp1' };
}

/** @returns undefined if the tags cannot be read */
async function parse(source: string, duration: boolean): Promise<IAudioMetadata | undefined> {
  return await parseFile(source, { duration }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) throw error;
    return undefined;
  });
}

/** Returns the length in the header of a recording. @throws Rejected */
function lengthIn(metadata: IAudioMetadata | undefined): number {
  const { hasVideo, trackInfo = [], duration } = metadata?.format ?? {};
  if (hasVideo) throw new Rejected(IS_VIDEO);
  if (trackInfo.some(({ codecName }) => codecName === '<drms>')) throw new Rejected(IS_PROTECTED);
  if (!duration) throw new Rejected(`Its length cannot be read without ffmpeg. ${INSTALL_FFMPEG}`);
  return Math.round(duration * 1000) / 1000;
}

/** Positions of eight bytes in the headers of formats of which many apps play only the first of joined recordings. */
const HEADERS: Partial<Record<string, number>> = { flac: 0, matroska: 0, mov: 4, wav: 8, aiff: 8 };

/** Returns whether the header at the start of a recording occurs again. */
async function isJoined(source: string, start: number): Promise<boolean> {
  let [header, bytes] = [Buffer.alloc(0), Buffer.alloc(0)];
  for await (const chunk of createReadStream(source, { start, highWaterMark: 1024 * 1024 })) {
    bytes = Buffer.concat([bytes.subarray(-8), chunk as Buffer]);
    if (header.length === 0) header = bytes.subarray(0, 8);
    if (bytes.includes(header, 1)) return true;
  }
  return false;
}
