import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import type { SupabaseClient } from '@supabase/supabase-js';
import PQueue from 'p-queue';
import { type BucketLimits, CACHE_SECONDS, type LocalFile, requireUnchanged } from './local-file.ts';
import { ImportError, Refused } from './problems.ts';
import { PART_BYTES, uploadInParts } from './resumable.ts';
import type { Connection } from './supabase.ts';

/** What a bucket takes. @throws ImportError */
export async function limitsOf(client: SupabaseClient, bucket: string): Promise<BucketLimits> {
  const { data, error } = await client.storage.getBucket(bucket);
  if (error) {
    const question = 'Is SUPABASE_SECRET_KEY a secret key, and have the migrations been applied?';
    throw (
      meaningOf(error) ??
      new ImportError(`The bucket ${bucket} cannot be read: ${error.message}. ${question}`)
    );
  }
  return {
    ...(data.file_size_limit && { maxBytes: data.file_size_limit }),
    ...(data.allowed_mime_types && { types: data.allowed_mime_types }),
  };
}

const PAGE = 1000;
const LISTS_AT_ONCE = 4;

/** What lies in the folders of Storage that the files go to, as bucket/path. */
export async function storedFiles(client: SupabaseClient, files: LocalFile[]): Promise<Set<string>> {
  const folders = new Map(
    files.map(({ bucket, path }) => {
      const folder = posix.dirname(path);
      return [`${bucket}/${folder}`, { bucket, folder }];
    }),
  );
  const queue = new PQueue({ concurrency: LISTS_AT_ONCE });
  const listed = await queue.addAll(
    [...folders.values()].map(
      ({ bucket, folder }) =>
        () =>
          listFolder(client, bucket, folder),
    ),
  );
  return new Set(listed.flat());
}

async function listFolder(client: SupabaseClient, bucket: string, folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (;;) {
    const page = { limit: PAGE, offset: paths.length };
    const { data, error } = await client.storage.from(bucket).list(folder === '.' ? '' : folder, page);
    if (error) throw meaningOf(error) ?? error;
    paths.push(...data.map(({ name }) => posix.join(bucket, folder, name)));
    if (data.length < PAGE) return paths;
  }
}

/**
 * Sends a file to its bucket; large ones in parts, so that an interrupted upload goes on where it was, in the next run, too.
 * @param onProgress told how many bytes have been sent so far
 * @throws Refused, ImportError, and errors of the file system
 */
export async function upload(
  connection: Connection,
  file: LocalFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  await requireUnchanged(file);
  if (file.size > PART_BYTES && !file.extract) return uploadInParts(connection, file, onProgress);
  const body = file.extract ? await file.extract() : await readFile(file.source);
  const { bucket, path, type: contentType } = file;
  // Replacing is allowed: the answer to a request that did its work may have been lost.
  const options = { contentType, cacheControl: CACHE_SECONDS, upsert: true };
  const { error } = await connection.client.storage.from(bucket).upload(path, body, options);
  if (error) throw meaningOf(error) ?? error;
  onProgress(file.size);
}

/** What an error of Storage means for the import, if that can be said. */
function meaningOf(error: { message: string; statusCode?: string | undefined }): Error | undefined {
  // Our fetch has said it already.
  if ('originalError' in error && error.originalError instanceof Error) return error.originalError;
  if (error.statusCode?.startsWith('4'))
    return new Refused(
      `Storage rejects it: ${error.message}. Check the limits of the bucket in the dashboard.`,
    );
  return undefined;
}
