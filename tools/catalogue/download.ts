import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checksumOf } from './local-file.ts';
import { openStored, type StoredFile } from './storage.ts';
import type { Connection } from './supabase.ts';

/**
 * Fetches a file of Storage, unless an earlier run has fetched it and neither has changed since: its moment is that of the one in Storage.
 * @param onBytes told how many more bytes have come; below 0 when they were lost
 * @returns its SHA-256 in hex
 */
export async function download(
  { client, signal }: Connection,
  { bucket, path, size, updatedAt }: StoredFile,
  target: string,
  onBytes: (count: number) => void,
): Promise<string> {
  const there = await stat(target).catch(() => undefined);
  if (there?.size === size && Math.abs(there.mtimeMs - updatedAt.getTime()) < 1000) {
    onBytes(size);
    return await checksumOf(target);
  }
  await mkdir(dirname(target), { recursive: true });
  const part = `${target}.part`;
  const hash = createHash('sha256');
  let come = 0;
  const count = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      come += chunk.length;
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  await pipeline(await openStored(client, bucket, path), count, createWriteStream(part), { signal }).catch(
    (error: unknown) => {
      onBytes(-come);
      throw error;
    },
  );
  await utimes(part, updatedAt, updatedAt);
  await rename(part, target);
  return hash.digest('hex');
}
