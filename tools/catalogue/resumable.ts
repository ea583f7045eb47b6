import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DetailedError, type PreviousUpload, Upload, type UploadOptions } from 'tus-js-client';
import { CACHE_SECONDS, type LocalFile } from './local-file.ts';
import { ImportError, Rejected } from './problems.ts';
import { type Connection, fatalMessage, isTemporary } from './supabase.ts';

/** Above this, Supabase recommends resumable uploads; and it takes them in parts of exactly this size. */
export const PART_BYTES = 6 * 1024 * 1024;

const RETRY_DELAYS_MS = [500, 1000, 2000, 4000];

/** Sends a large file by the TUS protocol, from where an earlier attempt ended, of whatever run. */
export async function uploadInParts(
  { project: { url, secretKey }, signal }: Connection,
  { bucket, path, type, source }: LocalFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const options: UploadOptions = {
    endpoint: `${url}/storage/v1/upload/resumable`,
    headers: { apikey: secretKey, authorization: `Bearer ${secretKey}`, 'x-upsert': 'true' },
    metadata: { bucketName: bucket, objectName: path, contentType: type, cacheControl: CACHE_SECONDS },
    chunkSize: PART_BYTES,
    retryDelays: RETRY_DELAYS_MS,
    onShouldRetry: (error) => {
      const status = error.originalResponse?.getStatus() ?? 0;
      return status === 0 || isTemporary(status) || status === 409 || status === 423;
    },
    // The path holds a checksum: what was begun under it is a part of this very file.
    fingerprint: () => Promise.resolve(`${url} ${bucket}/${path}`),
    urlStorage: unfinished,
    removeFingerprintOnSuccess: true,
    onProgress,
    onSuccess: () => resolve(),
    onError: (error) => reject(meaningOf(error, url)),
  };
  // Its types do not know of this, but it reads any part of such a stream by its path.
  const upload = new Upload(createReadStream(source) as unknown as Buffer, options);
  const end = () => {
    void upload.abort();
    reject(signal.reason);
  };
  signal.addEventListener('abort', end);
  const [begun] = await upload.findPreviousUploads();
  if (begun) upload.resumeFromPreviousUpload(begun);
  if (signal.aborted) end();
  else upload.start();
  await promise.finally(() => signal.removeEventListener('abort', end));
}

function meaningOf(error: Error | DetailedError, url: string): Error {
  if (!(error instanceof DetailedError)) return error;
  const status = error.originalResponse?.getStatus();
  // Storage may have sent the upload to another address than the project's.
  const { origin } = new URL(error.originalRequest?.getURL() ?? url);
  if (status === undefined)
    return new ImportError(`${origin} no longer answers. Check the network, then run the import again.`);
  const sentence = fatalMessage(status, origin);
  if (sentence) return new ImportError(sentence);
  const reason = error.originalResponse?.getBody().trim();
  return new Rejected(
    `Storage rejects it: ${reason} (${status}). Check the limits of the bucket in the dashboard.`,
  );
}

// Nobody else may write there: the secret key goes to the address that a note names.
const notesFolder = () => join(homedir(), '.cache', 'sounds-service', 'uploads');
const noteOf = (fingerprint: string) =>
  join(notesFolder(), createHash('sha256').update(fingerprint).digest('hex'));

/** Where uploads that were begun go on. It only saves sending what was sent already, so losing it loses nothing. */
const unfinished: NonNullable<UploadOptions['urlStorage']> = {
  findAllUploads: () => Promise.resolve([]),
  async findUploadsByFingerprint(fingerprint) {
    try {
      const upload: PreviousUpload = JSON.parse(await readFile(noteOf(fingerprint), 'utf8'));
      return [{ ...upload, urlStorageKey: fingerprint }];
    } catch {
      return [];
    }
  },
  async addUpload(fingerprint, upload) {
    try {
      await mkdir(notesFolder(), { recursive: true, mode: 0o700 });
      await writeFile(noteOf(fingerprint), JSON.stringify(upload));
    } catch {
      // Not resumable by the next run, then.
    }
    return fingerprint;
  },
  removeUpload: (fingerprint) => rm(noteOf(fingerprint), { force: true }),
};
