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
      with found as (
        select path_tokens[${depth}::int] as part, array_length(path_tokens, 1) > ${depth}::int as below,
          id, updated_at, created_at, last_accessed_at, metadata
        from storage.objects where bucket_id = ${bucket} and starts_with(name, ${within})
      )
      select * from (
        select distinct part as name, null::uuid as id, null::timestamptz as updated_at, null::timestamptz as created_at,
          null::timestamptz as last_accessed_at, null::jsonb as metadata from found where below
        union all
        select part, id, updated_at, created_at, last_accessed_at, metadata from found where not below
      ) as entries
      order by name limit ${limit} offset ${offset}`.execute(db),
  );
  return c.json(rows);
}
