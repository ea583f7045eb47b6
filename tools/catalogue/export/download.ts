import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import PQueue from 'p-queue';
import { openStored, type StoredFile } from '../project/storage.ts';
import { type Connection, retry } from '../project/supabase.ts';
import type { ExportedFile } from '../read/manifest.ts';
import { isTerminal } from '../shared/command.ts';
import { checksumOf } from '../shared/local-file.ts';
import { ImportError } from '../shared/problems.ts';
import { newBar, rateOf } from '../shared/progress-bar.ts';
import { megabytes } from '../shared/text.ts';

const FILES_AT_ONCE = 4;

/** Returns the name that a file of Storage has in the folder: its bucket, then its path. */
export const nameOf = (bucket: string, path: string | null) => `${bucket}/${path}`;

/**
 * Downloads files into the folder, four at a time.
 * @returns the entries of the manifest, by name
 * @throws ImportError
 */
export async function downloadAll(
  connection: Connection,
  folder: string,
  files: StoredFile[],
): Promise<Map<string, ExportedFile>> {
  const fetched = new Map<string, ExportedFile>();
  const progress = showBytes(files.reduce((sum, { size }) => sum + size, 0));
  const queue = new PQueue({ concurrency: FILES_AT_ONCE });
  const fetchOne = async (file: StoredFile) => {
    const { bucket, path, type } = file;
    const name = nameOf(bucket, path);
    const attempt = () => download(connection, file, join(folder, name), progress.add);
    const checksum = await retry(attempt, connection.signal).catch((error: Error) => {
      if (error instanceof ImportError) throw error;
      throw new ImportError(`${name} cannot be downloaded: ${error.message}. Run the command again to continue.`);
    });
    fetched.set(name, { bucket, path, type, checksum });
  };
  try {
    await queue.addAll(files.map((file) => () => fetchOne(file)));
  } finally {
    queue.clear();
    progress.close();
  }
  return fetched;
}

/**
 * Downloads a file, unless an earlier run did and size and modification time of both files are unchanged.
 * @param onBytes called with the number of new bytes, which is negative if an attempt failed
 * @returns its SHA-256 in hex
 */
async function download(
  { client, signal }: Connection,
  { bucket, path, size, updatedAt }: StoredFile,
  target: string,
  onBytes: (count: number) => void,
): Promise<string> {
  const existing = await stat(target).catch(() => undefined);
  // FAT stores even seconds.
  if (existing?.size === size && Math.abs(existing.mtimeMs - updatedAt.getTime()) <= 2000) {
    onBytes(size);
    return await checksumOf(target);
  }
  await mkdir(dirname(target), { recursive: true });
  const part = `${target}.part`;
  const hash = createHash('sha256');
  let received = 0;
  const count = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      received += chunk.length;
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  await pipeline(await openStored(client, bucket, path), count, createWriteStream(part), { signal }).catch(
    (error: unknown) => {
      onBytes(-received);
      throw error;
    },
  );
  await utimes(part, updatedAt, updatedAt);
  await rename(part, target);
  return hash.digest('hex');
}

/** Shows in a terminal how many bytes have been received. */
function showBytes(total: number) {
  if (!isTerminal) return { add() {}, close() {} };
  const startedMs = performance.now();
  const view = newBar('{received} | {rate} | {eta_formatted} left');
  let received = 0;
  view.start(total, 0, { rate: '', received: '' });
  return {
    add(bytes: number) {
      received += bytes;
      view.update(received, { rate: rateOf(received, startedMs), received: megabytes(received) });
    },
    close: () => view.stop(),
  };
}
