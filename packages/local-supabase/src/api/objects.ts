import { hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { App } from '@supabase/lite';

type Adapter = NonNullable<App['_storageAdapter']>;

/** Stores the contents of objects, one file each. Names and types are in the database. */
export class ObjectFiles implements Pick<Adapter, 'deleteObject' | 'deleteObjects'> {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Replaces the object's bytes atomically. Running downloads still get the old bytes. */
  async write(bucket: string, key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(bucket, key);
    await mkdir(dirname(path), { recursive: true });
    const unfinished = `${path}.${randomUUID()}`;
    await writeFile(unfinished, bytes);
    await rename(unfinished, path);
  }

  /** Returns the size in bytes, or undefined if the file is missing. */
  async size(bucket: string, key: string): Promise<number | undefined> {
    return (await stat(this.#path(bucket, key)).catch(() => undefined))?.size;
  }

  /** Reads the object, or its bytes from `start` to `end` inclusive. */
  read(bucket: string, key: string, range: { start?: number; end?: number } = {}): ReadableStream {
    return Readable.toWeb(createReadStream(this.#path(bucket, key), range)) as ReadableStream;
  }

  async deleteObject(bucket: string, key: string): Promise<void> {
    await rm(this.#path(bucket, key), { force: true });
  }

  async deleteObjects(bucket: string, keys: string[]): Promise<void> {
    await Promise.all(keys.map((key) => this.deleteObject(bucket, key)));
  }

  // Hash the key, because it can be longer than a file name, and one key can be a folder of another.
  #path(bucket: string, key: string): string {
    return join(this.#folder, hash('sha256', bucket), hash('sha256', key));
  }
}
