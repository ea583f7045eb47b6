import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { sql } from 'kysely';
import { newETag } from './objects.ts';
import type { Database } from './rest-connection.ts';
import type { Claims } from './rest-tokens.ts';
import { asCaller, type Storage, storageCaller } from './storage-caller.ts';
import { bucketNotFound, invalidRequest, rejectUpload, StorageError } from './storage-errors.ts';

// The characters that Storage accepts in an object's name.
const NAME = /^[\w/!.*'() &$=@;:+,?-]+$/;

/** An object that may be stored once its bytes are here. */
export interface NewObject {
  bucket: string;
  name: string;
  type: string;
  cacheControl: string;
  /** Whether it takes the place of one that is there. */
  replace: boolean;
}

/**
 * Stores the body as one object under the caller's policies; `x-upsert: true`, or PUT, replaces what is there.
 * @throws StorageError for a bad name, type or size, a name already taken, and rows that the policies reject
 */
export async function upload(storage: Storage, c: Context, bucket: string, name: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const bytes = await c.req.arrayBuffer().catch(() => {
    throw invalidRequest('The body could not be read to its end');
  });
  const type = c.req.header('content-type') ?? 'application/octet-stream';
  const cacheControl = c.req.header('cache-control') ?? 'no-cache';
  const replace = c.req.method === 'PUT' || c.req.header('x-upsert') === 'true';
  const object = { bucket, name, type, cacheControl, replace };
  await checkLimits(storage, object, bytes.byteLength);
  const id = await store(storage, caller, object, new Uint8Array(bytes));
  return c.json({ Id: id, Key: `${bucket}/${name}` });
}

/**
 * Holds an object against what Storage allows for names, and its bucket for sizes and types.
 * @throws StorageError
 */
export async function checkLimits(
  { connection }: Storage,
  { bucket, name, type }: NewObject,
  size: number,
): Promise<void> {
  if (!NAME.test(name)) throw new StorageError(400, 'InvalidKey', `Invalid key: ${name}`);
  const [limits] = await connection.driver<{ maxBytes: number | null; types: string[] | null }[]>`
    select file_size_limit as "maxBytes", allowed_mime_types as types from storage.buckets where id = ${bucket}`;
  if (!limits) throw bucketNotFound();
  if (size > (limits.maxBytes ?? Number.POSITIVE_INFINITY)) {
    throw new StorageError(
      413,
      'Payload too large',
      'The object exceeded the maximum allowed size',
      'EntityTooLarge',
    );
  }
  if (limits.types && !limits.types.includes(type.split(';')[0]?.trim().toLowerCase() ?? '')) {
    throw new StorageError(415, 'invalid_mime_type', `mime type ${type} is not supported`, 'InvalidMimeType');
  }
}

/**
 * Makes sure that `store` would be allowed to, and leaves nothing.
 * @throws StorageError for a name already taken, and rows that the policies reject
 */
export async function checkPermission(storage: Storage, caller: Claims, object: NewObject): Promise<void> {
  const insert = (db: Database) => insertRow(db, caller, object, 0);
  await asCaller(storage, caller, UPLOAD, insert, { forceRollback: true }).catch(rejectUpload);
}

/**
 * Writes the object's row under the caller's policies, and its bytes; returns its id.
 * @throws StorageError for a name already taken, and rows that the policies reject
 */
export async function store(
  storage: Storage,
  caller: Claims,
  object: NewObject,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const insert = async (db: Database) => {
    const id = await insertRow(db, caller, object, bytes.length);
    // Inside the transaction: without its file the row must not stay.
    await storage.files.write(object.bucket, object.name, bytes);
    return id;
  };
  return await asCaller(storage, caller, UPLOAD, insert).catch(rejectUpload);
}

const UPLOAD = 'storage.object.upload';

async function insertRow(
  db: Database,
  { sub = null }: Claims,
  { bucket, name, type, cacheControl, replace }: NewObject,
  size: number,
): Promise<string | undefined> {
  const described = { eTag: newETag(), size, mimetype: type, cacheControl, lastModified: new Date() };
  const metadata = JSON.stringify(described);
  const { rows } = await sql<{ id: string }>`
    insert into storage.objects (bucket_id, name, owner, owner_id, metadata, version)
    values (${bucket}, ${name}, ${sub}, ${sub}, ${metadata}::jsonb, ${randomUUID()})
    ${
      replace
        ? sql`on conflict (bucket_id, name) do update set owner = excluded.owner, owner_id = excluded.owner_id,
            metadata = excluded.metadata, version = excluded.version, updated_at = now()`
        : sql``
    }
    returning id`.execute(db);
  return rows[0]?.id;
}
