import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileTypeFromFile } from 'file-type';
import type { IAudioMetadata } from 'music-metadata';
import { isCurrent, type Measurements } from '../project/measurements.ts';
import type { Fields } from '../shared/fields.ts';
import { type BucketLimits, checksumOf, type LocalFile, requireLimits } from '../shared/local-file.ts';
import { readableTitle, storagePath, storedExtension } from '../shared/paths.ts';
import { Rejected } from '../shared/problems.ts';
import { parseRecording } from './appended-tag.ts';
import { installFfmpeg, isActually, isProtected, measure, unreadable } from './measure.ts';
import { readTags } from './tags.ts';
import type { FoundFile } from './walk.ts';

export interface Recording {
  fields: Fields;
  /** Audio file, with its facts if ffmpeg is installed. */
  audio: LocalFile;
  /** Undefined for an unchanged file of an export, because the sheet of the export has all fields. */
  metadata?: IAudioMetadata | undefined;
  notes: string[];
}

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
  requireLimits(file, { bucket: 'audio', type, size }, limits);
  const checksum = await checksumOf(source);
  const isExported = exported?.checksum === checksum;
  const path = isExported ? exported.path : storagePath(file, checksum);
  const isCertain = isExported || (await requireAgreement(file, source));
  const kept = isExported ? exported.measured : undefined;
  const measureOnce = async () => (kept && isCurrent(kept) ? kept : ((await measure(source, size)) ?? kept));
  const measured = await measurements.once(checksum, measureOnce).catch((error: unknown) => {
    if (isExported && error instanceof Rejected) return undefined;
    throw error;
  });
  const { duration_sec, ...facts } = measured?.facts ?? { duration_sec: undefined };
  const audio: LocalFile = {
    bucket: 'audio',
    path,
    type,
    size,
    checksum,
    source,
    changedMs,
    facts: measured && facts,
    outdated: measured?.outdated,
  };
  if (isExported) return { fields: {}, audio, notes: [] };
  const metadata = measured || isCertain ? await parse(source, !measured) : undefined;
  const { title, description, notes } = metadata ? readTags(metadata) : { title: '', description: '', notes: [] };
  if (await isJoined(source, storedExtension(file)))
    notes.push('It contains several joined recordings, and many apps play only the first. Export them as one.');
  const length = { duration_sec: duration_sec ?? lengthIn(metadata) };
  const texts = { title: title || readableTitle(file), ...(description && { description }) };
  return { fields: { ...texts, ...length }, audio, metadata, notes };
}

/** Stored extensions that one format can have. */
const alikeExtensions = [/^\.(m4[ap]|mp4)$/, /^\.(og[ga]|opus)$/, /^\.aif[fc]?$/];

/**
 * Compares the content of a recording with the extension of its name.
 * @returns false if the file may be damaged: it has no signature, which also some MPEG audio and RF64 lack, or that of
 *   MPEG Layer I, which is rare
 * @throws Rejected if it is of another format
 */
export async function requireAgreement(file: string, source: string): Promise<boolean> {
  const found = await fileTypeFromFile(source);
  const [extension, actual] = [storedExtension(file), storedExtension(`x.${found?.ext}`)];
  if (found && extension !== actual && !alikeExtensions.some((format) => format.test(extension) && format.test(actual)))
    throw isActually(found.ext);
  if (!found && !/^\.(mp3|aac|wav|au|caf|dts)$/.test(extension)) throw new Rejected(unreadable);
  return found !== undefined && found.ext !== 'mp1';
}

/** Reads the tags of a recording. @returns undefined if they cannot be read */
async function parse(source: string, duration: boolean): Promise<IAudioMetadata | undefined> {
  return await parseRecording(source, { duration }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) throw error;
    return undefined;
  });
}

/** Returns the length in the header of a recording. @throws Rejected */
function lengthIn(metadata: IAudioMetadata | undefined): number {
  const { hasVideo, trackInfo = [], duration } = metadata?.format ?? {};
  if (hasVideo) throw new Rejected(`It may be a video, which only ffmpeg can tell. ${installFfmpeg}`);
  if (trackInfo.some(({ codecName }) => codecName === '<drms>')) throw new Rejected(isProtected);
  if (!duration) throw new Rejected(`Its length cannot be read without ffmpeg. ${installFfmpeg}`);
  return Math.round(duration * 1000) / 1000;
}

/** Tells whether a file contains a second header. Many apps play only the first of joined recordings. */
async function isJoined(source: string, extension: string): Promise<boolean> {
  if (!/^\.(flac|webm|m4a|mp4|wav|aif[fc]?)$/.test(extension)) return false;
  // Skip the size at the start of the header.
  const start = /^\.m/.test(extension) ? 4 : /^\.(wav|aif)/.test(extension) ? 8 : 0;
  let [header, bytes] = [Buffer.alloc(0), Buffer.alloc(0)];
  for await (const chunk of createReadStream(source, { start, highWaterMark: 1024 * 1024 })) {
    bytes = Buffer.concat([bytes.subarray(-8), chunk as Buffer]);
    if (header.length === 0) header = bytes.subarray(0, 8);
    if (bytes.includes(header, 1)) return true;
  }
  return false;
}
