import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Facts } from './fields.ts';
import { Rejected } from './problems.ts';
import { megabytes } from './text.ts';

/** Limits of a bucket. If one is null, Storage enforces the limit of the project. */
export interface BucketLimits {
  maxBytes: number | null;
  /** Allowed MIME types, such as `audio/mpeg` or `audio/*`. */
  types: string[] | null;
}

/** A file of the folder, or a picture embedded in one, and its name in Storage. */
export interface LocalFile {
  bucket: 'audio' | 'covers';
  path: string;
  type: string;
  /** Size in bytes. */
  size: number;
  /** SHA-256 in hex. */
  checksum: string;
  /** Path of the file, or of the file that contains it. */
  source: string;
  /** Modification time of the source, in milliseconds. */
  changedMs: number;
  facts?: Facts | undefined;
  /** Facts that an earlier import measured in the file by other rules. */
  outdated?: Facts | null | undefined;
  /** Reads the content from the source. Without it, the content is the whole source. */
  extract?: () => Promise<Uint8Array>;
}

/** Returns the SHA-256 of a file in hex. */
export async function checksumOf(source: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  return hash.digest('hex');
}

/** Checks size and type of a file. @throws Rejected if it exceeds a limit of its bucket */
export function requireLimits(
  file: string,
  { bucket, type, size }: Pick<LocalFile, 'bucket' | 'type' | 'size'>,
  { types, maxBytes }: BucketLimits,
): void {
  const isAllowed = (allowed: string) =>
    allowed === type || (allowed.endsWith('/*') && type.startsWith(allowed.slice(0, -1)));
  const remedy = `Convert it, or edit the bucket "${bucket}" in the dashboard.`;
  if (types && !types.some(isAllowed))
    throw new Rejected(`The bucket does not accept ${posix.extname(file)} files (${type}). ${remedy}`);
  if (maxBytes !== null && size > maxBytes)
    throw new Rejected(`It is ${megabytes(size)}; the bucket accepts at most ${megabytes(maxBytes)}. ${remedy}`);
}
