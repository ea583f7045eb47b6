import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { DetailedError, Upload, type UploadOptions } from 'tus-js-client';
import { put } from '../project/storage.ts';
import { type Connection, fatalMessage, isTemporary } from '../project/supabase.ts';
import type { LocalFile } from '../shared/local-file.ts';
import { ImportError, Rejected } from '../shared/problems.ts';

/** Cache time of a file: one year, because the content of a path never changes. */
const cacheSeconds = String(365 * 24 * 60 * 60);

/** Supabase recommends resumable uploads above this size, and requires parts of exactly this size. */
const partBytes = 6 * 1024 * 1024;

/**
 * Uploads a file to its bucket. Sends a large file in parts, so that the next run can continue an interrupted upload.
 * @param onProgress called with the number of bytes sent so far
 * @throws Rejected, ImportError, and errors of the file system
 */
export async function uploadFile(
  connection: Connection,
  file: LocalFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const { source, changedMs, size, extract } = file;
  const { mtimeMs } = await stat(source);
  if (mtimeMs !== changedMs) throw new Rejected('It was changed during the import. Run the import again.');
  if (size > partBytes && !extract) return await uploadInParts(connection, file, onProgress);
  await put(connection.client, file, await (extract?.() ?? readFile(source)), cacheSeconds);
  onProgress(size);
}

/** Uploads a file by the TUS protocol. Continues an earlier attempt of this or another run. */
async function uploadInParts(
  { project: { url, secretKey }, signal }: Connection,
  { bucket, path, type, source }: LocalFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  // The path contains a checksum, so an upload to the same path has the same content.
  const name = createHash('sha256')
    .update(JSON.stringify([url, bucket, path]))
    .digest('hex');
  const note = join(homedir(), '.cache', 'sounds-service', 'uploads', name);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const options: UploadOptions = {
    endpoint: `${url}/storage/v1/upload/resumable`,
    headers: { apikey: secretKey, authorization: `Bearer ${secretKey}`, 'x-upsert': 'true' },
    metadata: { bucketName: bucket, objectName: path, contentType: type, cacheControl: cacheSeconds },
    chunkSize: partBytes,
    retryDelays: [500, 1000, 2000, 4000],
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      return status === 0 || isTemporary(status) || status === 409 || status === 423;
    },
    storeFingerprintForResuming: false,
    uploadUrl: await readFile(note, 'utf8').catch(() => null),
    onUploadUrlAvailable: () => void writeNote(note, upload.url ?? ''),
    onProgress,
    onSuccess: () => resolve(),
    onError: (error) => reject(explain(error, url)),
  };
  // The library supports file streams, but its types do not.
  const upload = new Upload(createReadStream(source) as unknown as Buffer, options);
  const abort = () => {
    void upload.abort();
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  else upload.start();
  await promise.finally(() => signal.removeEventListener('abort', abort));
  await rm(note, { force: true });
}

/** Stores the URL of an upload, so that the next run can continue it. Without the note, it starts again. */
async function writeNote(note: string, url: string): Promise<void> {
  // Only the user can write to the folder, because the secret key is sent to the URL.
  const made = mkdir(dirname(note), { recursive: true, mode: 0o700 });
  await made.then(() => writeFile(note, url)).catch(() => undefined);
}

function explain(error: Error | DetailedError, url: string): Error {
  if (!(error instanceof DetailedError)) return error;
  const status = error.originalResponse?.getStatus();
  // Storage may redirect an upload to another host.
  const { origin } = new URL(error.originalRequest?.getURL() ?? url);
  if (status === undefined)
    return new ImportError(`${origin} no longer answers. Check the network, then run the import again.`);
  const sentence = fatalMessage(status, origin);
  if (sentence) return new ImportError(sentence);
  const reason = error.originalResponse?.getBody().trim();
  return new Rejected(`Storage rejects it: ${reason} (${status}). Check the limits of the bucket in the dashboard.`);
}
