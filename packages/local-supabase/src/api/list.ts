import type { Context } from 'hono';
import { sql } from 'kysely';
import { z } from 'zod';
import { asCaller, type Storage, storageCaller } from './storage-caller.ts';
import { requestBody } from './storage-errors.ts';

const List = z.object({
  prefix: z.string(),
  limit: z.int().min(1).default(100),
  offset: z.int().min(0).default(0),
  search: z.string().default(''),
  sortBy: z
    .object({
      column: z.enum(['name', 'updated_at', 'created_at', 'last_accessed_at']).default('name'),
      order: z.enum(['asc', 'desc']).default('asc'),
    })
    .prefault({}),
});

/** Lists the objects and folders in a folder whose names begin with `search`. Folders have no id and no times. */
export async function list(storage: Storage, c: Context, bucket: string): Promise<Response> {
  const caller = await storageCaller(c.req.raw.headers);
  const { prefix, limit, offset, search, sortBy } = requestBody(List, await c.req.json().catch(() => undefined));
  const order = sortBy.order === 'asc' ? sql`asc` : sql`desc`;
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const depth = folder.split('/').length;
  const { rows } = await asCaller(storage, caller, 'storage.object.list', (db) =>
    sql`
      with found as (
        select path_tokens[${depth}::int] as name, array_length(path_tokens, 1) > ${depth} as is_folder,
          id, updated_at, created_at, last_accessed_at, metadata
        from storage.objects where bucket_id = ${bucket} and starts_with(lower(name), lower(${folder}))
      ), entries as (
        select name, id, updated_at, created_at, last_accessed_at, metadata from found where not is_folder
        union all
        select distinct name, null::uuid, null::timestamptz, null::timestamptz, null::timestamptz, null::jsonb
        from found where is_folder
      )
      select * from entries where starts_with(lower(name), lower(${search}))
      order by ${sortBy.column === 'name' ? sql`` : sql`${sql.ref(sortBy.column)} ${order},`}
        lower(name || case when id is null then '/' else '' end) collate "C" ${order}
      limit ${Math.min(limit, 1500)} offset ${offset}`.execute(db),
  );
  return c.json(rows);
}
