import { hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { App } from '@supabase/lite';

type Adapter = NonNullable<App['_storageAdapter']>;

/** The bytes of storage objects, one file each. Their names and types are in the database. */
export class ObjectFiles implements Pick<Adapter, 'deleteObject' | 'deleteObjects' | 'copyObject'> {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Replaces the object's bytes at once; whoever is reading the old ones reads them to the end. */
  async write(bucket: string, key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(bucket, key);
    await mkdir(dirname(path), { recursive: true });
    const unfinished = `${path}.${randomUUID()}`;
    await writeFile(unfinished, bytes);
    await rename(unfinished, path);
  }

  /** Size in bytes, or undefined when there is no such file. */
  async size(bucket: string, key: string): Promise<number | undefined> {
    return (await stat(this.#path(bucket, key)).catch(() => undefined))?.size;
  }

  /** The object's bytes, or those from `start` to `end`, both included. */
  read(bucket: string, key: string, range: { start?: number; end?: number } = {}): ReadableStream {
    return Readable.toWeb(createReadStream(this.#path(bucket, key), range)) as ReadableStream;
  }

  // What follows is for Lite, which moves, copies and deletes through it, and does nothing else here.

  async deleteObject(bucket: string, key: string): Promise<void> {
    await rm(this.#path(bucket, key), { force: true });
  }

  async deleteObjects(bucket: string, keys: string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.deleteObject(bucket, key)));
  }

  async copyObject(bucket: string, key: string, _version: unknown, toBucket: string, toKey: string) {
    const target = this.#path(toBucket, toKey);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(this.#path(bucket, key), target);
    return { httpStatusCode: 200, eTag: newETag(), lastModified: new Date() };
  }

  // Hashed: keys may be longer than file names, and one may look like a folder of another.
  #path(bucket: string, key: string): string {
    return join(this.#folder, hash('sha256', bucket), hash('sha256', key));
  }
}

/** What marks the bytes that an object has from now on. */
export const newETag = () => `"${randomUUID().replaceAll('-', '')}"`;
