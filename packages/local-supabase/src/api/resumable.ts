import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Server, type Upload } from '@tus/server';
import { type Storage, storageCaller } from './storage-caller.ts';
import { StorageError } from './storage-errors.ts';
import { checkLimits, checkPermission, type NewObject, store } from './upload.ts';

/** Path at which TUS clients create uploads, and below which they send and resume them. */
export const RESUMABLE = '/storage/v1/upload/resumable';

/**
 * Receives resumable uploads by the TUS protocol. `bucketName`, `objectName`, `contentType` and `cacheControl` (seconds) are
 * metadata of the upload, and `x-upsert: true` replaces an existing object. Uploads are rejected before a byte is sent.
 */
export function resumableUploads(storage: Storage): Server {
  const datastore = new FileStore({ directory: storage.unfinishedDir });
  return new Server({
    path: RESUMABLE,
    datastore,
    async onUploadCreate({ headers }, upload) {
      const object = objectOf(upload, headers);
      await checkLimits(storage, object, upload.size ?? 0);
      await checkPermission(storage, await storageCaller(headers), object);
      return {};
    },
    async onUploadFinish({ headers }, upload) {
      const file = join(storage.unfinishedDir, upload.id);
      const bytes = await readFile(file);
      await store(storage, await storageCaller(headers), objectOf(upload, headers), bytes);
      // Keep an empty file of the same length, because its length tells a client that missed the response that all
      // bytes have arrived.
      await truncate(file);
      await truncate(file, bytes.length);
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
