import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import { asCaller, type Storage, storageCaller } from './storage-caller.ts';
import { requestBody } from './storage-errors.ts';

const List = z.object({
  prefix: z.string().default(''),
  limit: z.int().min(1).default(100),
  offset: z.int().min(0).default(0),
});

/** What lies directly in one folder of a bucket, by name, without that of the folder; folders below it have no id. */
export async function list(storage: Storage, c: Context, bucket: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { prefix, limit, offset } = requestBody(List, await c.req.json().catch(() => undefined));
  const folder = prefix.replace(/^\/+|\/+$/g, '');
  const within = folder === '' ? '' : `${folder}/`;
  const depth = within.split('/').length;
  const { rows } = await asCaller(storage, caller, 'storage.object.list', (db) =>
    sql`
      select part as name, id, updated_at, created_at, last_accessed_at, metadata
      from (
        select distinct path_tokens[${depth}::int] as part, array_length(path_tokens, 1) > ${depth}::int as is_folder
        from storage.objects where bucket_id = ${bucket} and starts_with(name, ${within})
      ) as entries
      left join storage.objects on not is_folder and bucket_id = ${bucket} and name = ${within} || part
      order by part limit ${limit} offset ${offset}`.execute(db),
  );
  return c.json(rows);
}
