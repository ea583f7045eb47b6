import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import { asCaller, checkName, type Storage, storageCaller } from './storage-caller.ts';
import { objectNotFound, rejectRow, requestBody } from './storage-errors.ts';

const Relocation = z.object({
  bucketId: z.string(),
  sourceKey: z.string(),
  destinationBucket: z.string().optional(),
  destinationKey: z.string(),
});

/** Reads the request of a move or a copy. @throws StorageError for a missing member or an invalid name */
async function readRelocation(c: Context) {
  const { bucketId, sourceKey, destinationBucket, destinationKey } = requestBody(
    Relocation,
    await c.req.json().catch(() => undefined),
  );
  checkName(destinationKey);
  return {
    caller: await storageCaller(c.req.raw.headers),
    from: { bucket: bucketId, name: sourceKey },
    to: { bucket: destinationBucket ?? bucketId, name: destinationKey },
  };
}

/** Moves an object under the caller's policies. Its row stays the same, so that triggers see an update. */
export async function move(storage: Storage, c: Context): Promise<Response> {
  const { caller, from, to } = await readRelocation(c);
  await asCaller(storage, caller, 'storage.object.move', async (db) => {
    const { rows } = await sql`
      update storage.objects set bucket_id = ${to.bucket}, name = ${to.name}, version = gen_random_uuid(), updated_at = now()
      where bucket_id = ${from.bucket} and name = ${from.name} returning id`.execute(db);
    if (!rows[0]) throw objectNotFound();
    await storage.files.copy(from, to);
  }).catch(rejectRow);
  if (from.bucket !== to.bucket || from.name !== to.name) await storage.files.deleteObject(from.bucket, from.name);
  return c.json({ message: 'Successfully moved' });
}

/** Copies an object under the caller's policies. The copy keeps type, caching and ETag. */
export async function copy(storage: Storage, c: Context): Promise<Response> {
  const { caller, from, to } = await readRelocation(c);
  const { sub = null } = caller;
  const id = await asCaller(storage, caller, 'storage.object.copy', async (db) => {
    const { rows } = await sql<{ id: string }>`
      insert into storage.objects (bucket_id, name, owner, owner_id, metadata, version)
      select ${to.bucket}, ${to.name}, ${sub}, ${sub}, metadata, gen_random_uuid() from storage.objects
      where bucket_id = ${from.bucket} and name = ${from.name} returning id`.execute(db);
    if (!rows[0]) throw objectNotFound();
    await storage.files.copy(from, to);
    return rows[0].id;
  }).catch(rejectRow);
  return c.json({ Id: id, Key: `${to.bucket}/${to.name}` });
}
