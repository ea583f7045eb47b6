import { posix } from 'node:path';
import type { SupabaseClient } from '@supabase/supabase-js';
import PQueue from 'p-queue';
import type { Row } from '../shared/fields.ts';
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

type Named = Pick<LocalFile, 'bucket' | 'path'>;

/** Returns the path of a file after its bucket, which is unique in Storage. An export uses the same path. */
export const nameOf = ({ bucket, path }: Named) => `${bucket}/${path}`;

/** Returns the files that a sound names. */
export const filesOf = ({ audio_path, cover_image_path }: Row): Named[] => [
  ...(audio_path === null ? [] : [{ bucket: 'audio' as const, path: audio_path }]),
  ...(cover_image_path === null ? [] : [{ bucket: 'covers' as const, path: cover_image_path }]),
];

const pageSize = 1000;

/** Looks up files in Storage. @returns all files in their folders, by name */
export async function listStored(client: SupabaseClient, files: Named[]): Promise<Map<string, StoredFile>> {
  const folders = new Map(files.map((file) => [posix.dirname(nameOf(file)), file]));
  const lists = [...folders.values()].map((file) => () => listFolder(client, file.bucket, posix.dirname(file.path)));
  const listed = await new PQueue({ concurrency: 4 }).addAll(lists);
  return new Map(listed.flat().map((file) => [nameOf(file), file]));
}

export interface StoredFile extends Named {
  type: string;
  /** Size in bytes. */
  size: number;
  updatedAt: Date;
}

async function listFolder(client: SupabaseClient, bucket: StoredFile['bucket'], folder: string): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  let offset = 0;
  for (;;) {
    const page = { limit: pageSize, offset };
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
    if (data.length < pageSize) return files;
    offset += pageSize;
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
