import { posix } from 'node:path';
import type { SupabaseClient } from '@supabase/supabase-js';
import PQueue from 'p-queue';
import type { BucketLimits, LocalFile } from '../shared/local-file.ts';
import { typeOf } from '../shared/paths.ts';
import { ImportError, Rejected } from '../shared/problems.ts';

/** Reads the limits of a bucket. @throws ImportError */
export async function limitsOf(client: SupabaseClient, bucket: string): Promise<BucketLimits> {
  const { data, error } = await client.storage.getBucket(bucket);
  if (error) {
    const question = 'Is SUPABASE_SECRET_KEY a secret key, and have the migrations been applied?';
    throw meaningOf(error) ?? new ImportError(`The bucket ${bucket} cannot be read: ${error.message}. ${question}`);
  }
  return { maxBytes: data.file_size_limit ?? null, types: data.allowed_mime_types ?? null };
}

const PAGE = 1000;
const LISTS_AT_ONCE = 4;

/** Looks up files in Storage. @returns the existing ones, by bucket/path */
export async function listStored(
  client: SupabaseClient,
  files: Pick<LocalFile, 'bucket' | 'path'>[],
): Promise<Map<string, StoredFile>> {
  const folders = new Map(
    files.map(({ bucket, path }) => {
      const folder = posix.dirname(path);
      return [`${bucket}/${folder}`, { bucket, folder }];
    }),
  );
  const queue = new PQueue({ concurrency: LISTS_AT_ONCE });
  const listed = await Promise.all(
    [...folders.values()].map(({ bucket, folder }) => queue.add(() => listFolder(client, bucket, folder))),
  );
  return new Map(listed.flat().map((file) => [`${file.bucket}/${file.path}`, file]));
}

export interface StoredFile {
  bucket: LocalFile['bucket'];
  path: string;
  type: string;
  /** Size in bytes. */
  size: number;
  updatedAt: Date;
}

async function listFolder(client: SupabaseClient, bucket: StoredFile['bucket'], folder: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  let offset = 0;
  for (;;) {
    const page = { limit: PAGE, offset };
    const { data, error } = await client.storage.from(bucket).list(folder === '.' ? '' : folder, page);
    if (error) throw meaningOf(error) ?? error;
    // Folders have no id, and some files no metadata.
    for (const { id, name, metadata, updated_at } of data)
      if (id)
        files.push({
          bucket,
          path: posix.join(folder, name),
          type: metadata?.['mimetype'] || typeOf(name),
          size: metadata?.['size'] ?? 0,
          updatedAt: new Date(updated_at ?? 0),
        });
    if (data.length < PAGE) return files;
    offset += PAGE;
  }
}

/** Opens a file in Storage as a stream. */
export async function openStored(client: SupabaseClient, bucket: string, path: string): Promise<ReadableStream> {
  const { data, error } = await client.storage.from(bucket).download(path).asStream();
  if (error) throw meaningOf(error) ?? error;
  return data;
}

/**
 * Uploads a file to its bucket in one request.
 * @param cacheSeconds maximum age in caches. Default: one hour, as in Storage
 * @throws Rejected, ImportError
 */
export async function put(
  client: SupabaseClient,
  { bucket, path, type: contentType }: Pick<LocalFile, 'bucket' | 'path' | 'type'>,
  body: Uint8Array | string,
  cacheSeconds = '3600',
): Promise<void> {
  // Replace an existing file, because the response to an earlier attempt may have been lost.
  const options = { contentType, cacheControl: cacheSeconds, upsert: true };
  const { error } = await client.storage.from(bucket).upload(path, body, options);
  if (error) throw meaningOf(error) ?? error;
}

/** Explains a known error of Storage. Returns undefined for other errors. */
function meaningOf(error: { message: string; statusCode?: string | undefined }): Error | undefined {
  // The fetch of the client has already explained the error.
  if ('originalError' in error && error.originalError instanceof Error) return error.originalError;
  if (error.statusCode?.startsWith('4'))
    return new Rejected(`Storage rejects it: ${error.message}. Check the limits of the bucket in the dashboard.`);
  return undefined;
}
