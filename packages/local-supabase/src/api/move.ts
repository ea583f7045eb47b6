import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import { asCaller, checkName, findObject, type Storage, storageCaller } from './storage-caller.ts';
import { accessDenied, objectNotFound, rejectRow, requestBody } from './storage-errors.ts';
import { insertRow } from './upload.ts';

const Relocation = z.object({
  bucketId: z.string(),
  sourceKey: z.string(),
  destinationBucket: z.string().optional(),
  destinationKey: z.string(),
});

async function relocation(c: Context) {
  const { bucketId, sourceKey, destinationBucket, destinationKey } = requestBody(
    Relocation,
    await c.req.json().catch(() => undefined),
  );
  checkName(destinationKey);
  return { from: [bucketId, sourceKey], to: [destinationBucket ?? bucketId, destinationKey] } as const;
}

/** Moves an object by updating its row in place, also to another bucket. */
export async function move(storage: Storage, c: Context): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { from, to } = await relocation(c);
  const { sub = null } = caller;
  const changed = JSON.stringify({ lastModified: new Date() });
  await asCaller(storage, caller, 'storage.object.move', async (db) => {
    const { rows } = await sql`
      update storage.objects set bucket_id = ${to[0]}, name = ${to[1]}, version = ${randomUUID()},
        owner = ${sub}, owner_id = ${sub}, metadata = metadata || ${changed}::jsonb, updated_at = now()
      where bucket_id = ${from[0]} and name = ${from[1]} returning id`.execute(db);
    if (!rows[0]) throw objectNotFound();
    await storage.files.move(from, to);
  }).catch(rejectRow);
  return c.json({ message: 'Successfully moved' });
}

export async function copy(storage: Storage, c: Context): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { from, to } = await relocation(c);
  const { metadata } = await findObject(storage, ...from, caller, 'storage.object.copy');
  const object = { bucket: to[0], name: to[1], replace: c.req.header('x-upsert') === 'true' };
  const row = await asCaller(storage, caller, 'storage.object.copy', async (db) => {
    const inserted = await insertRow(db, caller, object, { ...metadata, lastModified: new Date() });
    await storage.files.copy(from, to);
    return inserted;
  }).catch(rejectRow);
  return c.json({ Id: row?.id, Key: to.join('/'), ...row });
}

export async function remove(storage: Storage, c: Context, bucket: string, name: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  await findObject(storage, bucket, name);
  await asCaller(storage, caller, 'storage.object.delete', async (db) => {
    const { rows } = await sql`
      delete from storage.objects where bucket_id = ${bucket} and name = ${name} returning id`.execute(db);
    if (!rows[0]) throw accessDenied('Access denied');
    await storage.files.deleteObject(bucket, name);
  });
  return c.json({ message: 'Successfully deleted' });
}
