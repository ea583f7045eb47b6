import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import { asCaller, type Storage, storageCaller } from './storage-caller.ts';
import { requestBody } from './storage-errors.ts';

const List = z.object({
  prefix: z.string(),
  search: z.string().default(''),
  limit: z.int().min(1).default(100),
  offset: z.int().min(0).default(0),
  sortBy: z
    .object({
      column: z.enum(['name', 'updated_at', 'created_at', 'last_accessed_at']),
      order: z.enum(['asc', 'desc']).default('asc'),
    })
    .default({ column: 'name', order: 'asc' }),
});

/** Lists objects and folders in a folder whose names begin with the searched text. Folders have no id. */
export async function list(storage: Storage, c: Context, bucket: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { prefix, search, limit, offset, sortBy } = requestBody(List, await c.req.json().catch(() => undefined));
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const first = folder.split('/').length;
  const last = (folder + search).split('/').length;
  const order = sql.raw(sortBy.order);
  const { rows } = await asCaller(storage, caller, 'storage.object.list', (db) =>
    sql`
      with found as (
        select array_to_string(path_tokens[${first}::int:${last}::int], '/') as part, array_length(path_tokens, 1) as depth,
          id, updated_at, created_at, last_accessed_at, metadata
        from storage.objects where bucket_id = ${bucket} and starts_with(lower(name), lower(${folder + search}))
      ), entries as (
        select part as name, id, updated_at, created_at, last_accessed_at, metadata from found where depth = ${last}
        union all
        select distinct part, null::uuid, null::timestamptz, null::timestamptz, null::timestamptz, null::jsonb
        from found where depth > ${last}
      )
      select * from entries order by ${
        sortBy.column === 'name'
          ? sql`lower(name || case when id is null then '/' else '' end) collate "C" ${order}`
          : sql`id is not null, case when id is null then name end ${order}, ${sql.ref(sortBy.column)} ${order}`
      } limit ${Math.min(limit, 1500)} offset ${offset}`.execute(db),
  );
  return c.json(rows);
}
