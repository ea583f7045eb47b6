import { hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';

interface ObjectAddress {
  bucket: string;
  name: string;
}

export interface ObjectFiles {
  /** Replaces the object's bytes atomically. Running downloads still get the old bytes. */
  write: (bucket: string, key: string, bytes: Uint8Array) => Promise<void>;
  /** Returns the size in bytes, or undefined if the file is missing. */
  size: (bucket: string, key: string) => Promise<number | undefined>;
  /** Reads the object, or its bytes from `start` to `end` inclusive. */
  read: (bucket: string, key: string, range?: { start?: number; end?: number }) => ReadableStream;
  /** Copies the bytes of an object. Replaces those at the destination. */
  copy: (from: ObjectAddress, to: ObjectAddress) => Promise<void>;
  deleteObject: (bucket: string, key: string) => Promise<void>;
  deleteObjects: (bucket: string, keys: string[]) => Promise<void>;
}

/** Stores the contents of objects in a folder, one file each. Names and types are in the database. */
export function createObjectFiles(folder: string): ObjectFiles {
  // Hash the key, because it can be longer than a file name, and one key can be a folder of another.
  const pathOf = (bucket: string, key: string) => join(folder, hash('sha256', bucket), hash('sha256', key));
  const remove = (bucket: string, key: string) => rm(pathOf(bucket, key), { force: true });
  return {
    async write(bucket, key, bytes) {
      const path = pathOf(bucket, key);
      await mkdir(dirname(path), { recursive: true });
      const unfinished = `${path}.${randomUUID()}`;
      await writeFile(unfinished, bytes);
      await rename(unfinished, path);
    },
    size: async (bucket, key) => (await stat(pathOf(bucket, key)).catch(() => undefined))?.size,
    read: (bucket, key, range = {}) => Readable.toWeb(createReadStream(pathOf(bucket, key), range)) as ReadableStream,
    async copy(from, to) {
      const path = pathOf(to.bucket, to.name);
      await mkdir(dirname(path), { recursive: true });
      await copyFile(pathOf(from.bucket, from.name), path);
    },
    deleteObject: remove,
    async deleteObjects(bucket, keys) {
      await Promise.all(keys.map((key) => remove(bucket, key)));
    },
  };
}
