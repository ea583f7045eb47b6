import type { Context } from 'hono';
import { sql } from 'kysely';
import { asCaller, findObject, type Storage, storageCaller } from './storage-caller.ts';
import { accessDenied } from './storage-errors.ts';

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
