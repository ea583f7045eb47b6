import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Server, type Upload } from '@tus/server';
import { type Storage, storageCaller } from './storage-caller.ts';
import { StorageError } from './storage-errors.ts';
import { checkLimits, type NewObject, store } from './upload.ts';

/** Where TUS clients create uploads, and below which they send and resume them. */
export const RESUMABLE = '/storage/v1/upload/resumable';

/**
 * Resumable uploads by the TUS protocol, as Supabase Storage takes them: `bucketName`, `objectName`, `contentType` and
 * `cacheControl` (seconds) are metadata of the upload, and `x-upsert: true` replaces what is there. Unlike the real one,
 * it asks the caller's policies when the upload ends, not when it begins.
 */
export function resumableUploads(storage: Storage): Server {
  const datastore = new FileStore({ directory: storage.unfinishedDir });
  return new Server({
    path: RESUMABLE,
    datastore,
    async onIncomingRequest({ method, headers }) {
      if (method !== 'HEAD' && method !== 'OPTIONS') await storageCaller(headers);
    },
    async onUploadCreate({ headers }, upload) {
      await checkLimits(storage, objectOf(upload, headers), upload.size ?? 0);
      return {};
    },
    async onUploadFinish({ headers }, upload) {
      const bytes = await readFile(join(storage.unfinishedDir, upload.id));
      await store(storage, await storageCaller(headers), objectOf(upload, headers), bytes);
      await datastore.remove(upload.id);
      return {};
    },
    onResponseError(_request, error) {
      if (!(error instanceof StorageError)) return undefined;
      return { status_code: Number(error.status), body: error.message };
    },
  });
}

function objectOf({ metadata }: Upload, headers: Headers): NewObject {
  const seconds = metadata?.['cacheControl'];
  return {
    bucket: metadata?.['bucketName'] ?? '',
    name: metadata?.['objectName'] ?? '',
    type: metadata?.['contentType'] ?? 'application/octet-stream',
    cacheControl: seconds ? `max-age=${seconds}` : 'no-cache',
    replace: headers.get('x-upsert') === 'true',
  };
}
