import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import PQueue from 'p-queue';
import { nameOf, openStored, type StoredFile } from '../project/storage.ts';
import { type Connection, retry } from '../project/supabase.ts';
import type { ExportedFile } from '../read/manifest.ts';
import { checksumOf } from '../shared/local-file.ts';
import { showBar } from '../shared/print.ts';
import { ImportError } from '../shared/problems.ts';

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
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const progress = showBar(total, '{rate} | {eta_formatted} left');
  const queue = new PQueue({ concurrency: 4 });
  const fetchOne = async (file: StoredFile) => {
    const { bucket, path, type } = file;
    const name = nameOf(file);
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
  async function* count(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      received += chunk.length;
      onBytes(chunk.length);
      yield chunk;
    }
  }
  const opened = await openStored(client, bucket, path);
  await pipeline(opened, count, createWriteStream(part), { signal }).catch((error: unknown) => {
    onBytes(-received);
    throw error;
  });
  await utimes(part, updatedAt, updatedAt);
  await rename(part, target);
  return hash.digest('hex');
}
