import { hash, randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { sql } from 'kysely';
import type { Database } from './rest-connection.ts';
import type { Claims } from './rest-tokens.ts';
import { asCaller, checkName, type Storage, storageCaller } from './storage-caller.ts';
import { bucketNotFound, invalidRequest, rejectRow, StorageError } from './storage-errors.ts';

/** Address of an object, and permission to replace an existing one. */
interface Place {
  bucket: string;
  name: string;
  replace: boolean;
}

/** Properties of a new object, without its bytes. */
export interface NewObject extends Place {
  type: string;
  cacheControl: string;
}

/**
 * Stores the body as one object under the caller's policies. `x-upsert: true` or PUT replaces an existing object.
 * @throws StorageError for an invalid name, type or size, an existing name, and rows that the policies reject
 */
export async function upload(storage: Storage, c: Context, bucket: string, name: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const replace = c.req.method === 'PUT' || c.req.header('x-upsert') === 'true';
  const isForm = c.req.header('content-type')?.startsWith('multipart/form-data');
  const { bytes, type, cacheControl } = await (isForm ? formFile(c) : wholeBody(c));
  const object = { bucket, name, replace, type, cacheControl };
  await checkLimits(storage, object, bytes.byteLength);
  const id = await store(storage, caller, object, new Uint8Array(bytes));
  return c.json({ Id: id, Key: `${bucket}/${name}` });
}

async function wholeBody(c: Context) {
  const bytes = await c.req.arrayBuffer().catch(rejectBody);
  const type = c.req.header('content-type') ?? 'application/octet-stream';
  return { bytes, type, cacheControl: c.req.header('cache-control') ?? 'no-cache' };
}

/** Reads the form that supabase-js sends for a File or Blob. */
async function formFile(c: Context) {
  const form = await c.req.formData().catch(rejectBody);
  const file = [...form.values()].find((value) => value instanceof File);
  if (!file) throw invalidRequest('No content provided');
  const seconds = form.get('cacheControl');
  const cacheControl = seconds ? `max-age=${seconds}` : 'no-cache';
  return { bytes: await file.arrayBuffer(), type: file.type, cacheControl };
}

function rejectBody(): never {
  throw invalidRequest('The body could not be read to its end');
}

/**
 * Checks the name of an object, and its size and type by the limits of its bucket.
 * @throws StorageError
 */
export async function checkLimits(
  { connection }: Storage,
  { bucket, name, type }: NewObject,
  size: number,
): Promise<void> {
  checkName(name);
  const [limits] = await connection.driver<{ maxBytes: number | null; types: string[] | null }[]>`
    select file_size_limit as "maxBytes", allowed_mime_types as types from storage.buckets where id = ${bucket}`;
  if (!limits) throw bucketNotFound();
  if (size > (limits.maxBytes ?? Number.POSITIVE_INFINITY)) {
    const message = 'The object exceeded the maximum allowed size';
    throw new StorageError(413, 'Payload too large', message, 'EntityTooLarge');
  }
  // Compare types exactly, except for wildcards such as `image/*`.
  const fits = (allowed: string) => (allowed.endsWith('/*') ? type.startsWith(allowed.slice(0, -1)) : type === allowed);
  if (limits.types?.length && !limits.types.some(fits))
    throw new StorageError(415, 'invalid_mime_type', `mime type ${type} is not supported`, 'InvalidMimeType');
}

/**
 * Checks that the caller may store an object, by an insert that is rolled back.
 * @throws StorageError for an existing name, and rows that the policies reject
 */
export async function checkPermission(storage: Storage, caller: Claims, place: Place) {
  const insert = (db: Database) => insertRow(db, caller, place, {});
  await asCaller(storage, caller, uploadOperation, insert, { forceRollback: true }).catch(rejectRow);
}

/**
 * Writes the object's row under the caller's policies, and its bytes. Returns its id.
 * @throws StorageError for an existing name, and rows that the policies reject
 */
export async function store(
  storage: Storage,
  caller: Claims,
  object: NewObject,
  bytes: Uint8Array,
): Promise<string | undefined> {
  const metadata = {
    eTag: `"${hash('md5', bytes)}"`,
    size: bytes.length,
    mimetype: object.type,
    cacheControl: object.cacheControl,
    lastModified: new Date(),
  };
  const insert = async (db: Database) => {
    const row = await insertRow(db, caller, object, metadata);
    // Write the file within the transaction, so that a failure rolls the row back.
    await storage.files.write(object.bucket, object.name, bytes);
    return row?.id;
  };
  return await asCaller(storage, caller, uploadOperation, insert).catch(rejectRow);
}

const uploadOperation = 'storage.object.upload';

/** Inserts or replaces the row of an object, with a new version. */
async function insertRow(
  db: Database,
  { sub = null }: Claims,
  { bucket, name, replace }: Place,
  metadata: object,
): Promise<{ id: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into storage.objects (bucket_id, name, owner, owner_id, metadata, version)
    values (${bucket}, ${name}, ${sub}, ${sub}, ${JSON.stringify(metadata)}::jsonb, ${randomUUID()})
    ${
      replace
        ? sql`on conflict (bucket_id, name) do update set owner = excluded.owner, owner_id = excluded.owner_id,
            metadata = excluded.metadata, version = excluded.version, updated_at = now()`
        : sql``
    }
    returning *`.execute(db);
  return rows[0];
}
