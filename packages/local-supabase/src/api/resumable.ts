import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Server, type Upload } from '@tus/server';
import { type Storage, storageCaller } from './storage-caller.ts';
import { StorageError } from './storage-errors.ts';
import { checkLimits, checkPermission, type NewObject, store } from './upload.ts';

/** Path to create uploads by TUS. They are sent and resumed below it. */
export const resumablePath = '/storage/v1/upload/resumable';

/**
 * Receives resumable uploads by the TUS protocol. Metadata are `bucketName`, `objectName`, `contentType` and
 * `cacheControl` (in seconds). `x-upsert: true` replaces an existing object. Rejects uploads before a byte is sent.
 */
export function resumableUploads(storage: Storage): Server {
  const datastore = new FileStore({ directory: storage.unfinishedDir });
  return new Server({
    path: resumablePath,
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
      // Keep an empty file of the same length, so that a client that missed the response learns that all bytes have
      // arrived.
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
