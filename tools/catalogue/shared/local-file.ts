import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { megabytes } from './text.ts';

/** What a bucket takes; without a limit, as much as the project does, which says so by itself. */
export interface BucketLimits {
  maxBytes?: number;
  /** Such as `audio/mpeg`, or `audio/*` for all of them. */
  types?: string[];
}

/** A file of the folder, or a picture inside one, and where it goes in Storage. */
export interface LocalFile {
  bucket: 'audio' | 'covers';
  path: string;
  type: string;
  /** In bytes. */
  size: number;
  /** SHA-256 in hex. */
  checksum: string;
  /** The file that it is, or lies in. */
  source: string;
  /** When that was last changed, in milliseconds. */
  changedMs: number;
  /** Gets what lies in the source; without it, that is the source as a whole. */
  extract?: () => Promise<Uint8Array>;
}

/** SHA-256 in hex. */
export async function checksumOf(source: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  return hash.digest('hex');
}

/** What the limits of a bucket have against a file, in a sentence. */
export function limitProblem(
  file: string,
  type: string,
  size: number,
  { types, maxBytes = Number.POSITIVE_INFINITY }: BucketLimits,
): string | undefined {
  const isAllowed = (allowed: string) =>
    allowed === type || (allowed.endsWith('/*') && type.startsWith(allowed.slice(0, -1)));
  if (types && !types.some(isAllowed))
    return `The bucket does not accept ${posix.extname(file)} files (${type}).`;
  if (size <= maxBytes) return undefined;
  return `It is ${megabytes(size)}; the bucket accepts at most ${megabytes(maxBytes)}.`;
}
