import { as } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import type { Release } from 'local-supabase/postgres-files';
import postgres from 'postgres';
import { compareSchemas } from 'sounds-migration/changes';
import { applySchemaFiles } from 'sounds-migration/schema-files';
import { expect, onTestFinished } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

// supabase/schemas is what a person reads, supabase/migrations what deployments run.

/** Returns the owners of all objects, because pg-delta compares only their grants. */
async function ownersIn(databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 });
  const owners = await sql`
    select pg_describe_object(classid, objid, objsubid) as object, refobjid::regrole::text as owner from pg_shdepend
    where deptype = 'o' and dbid = (select oid from pg_database where datname = current_database())
    order by object`;
  await sql.end();
  return owners.filter(({ object }) => !object.includes('supabase_migrations'));
}

/** Expects that the migrations make what the schema files declare, and that the comparison finds what they forget. */
export async function expectDeclared(release: Release) {
  const bare = await startDatabase(release, 'bare');
  onTestFinished(bare.stop);
  const scratch = await startDatabase(release);
  onTestFinished(scratch.stop);
  const databases = {
    migrated: scratch.databaseUrl,
    declared: bare.databaseUrl,
    statements: await applySchemaFiles(bare.databaseUrl, new URL('../../supabase/schemas/', import.meta.url)),
  };
  expect((await compareSchemas(databases)).statements).toEqual([]);
  expect(await ownersIn(databases.migrated)).toEqual(await ownersIn(databases.declared));

  const sql = postgres(as(SUPERUSER, databases.migrated), { max: 1, onnotice() {} });
  await sql.unsafe(`
      comment on function public.get_sound is null;
      revoke execute on function public.get_sound from authenticated;
      alter function private.list_categories reset enable_seqscan;
      alter table public.favorites disable trigger favorites_limit;
      drop trigger sounds_service_limit_metadata on auth.users`);
  await sql.end();
  const { statements } = await compareSchemas(databases);
  for (const missing of [
    /^comment on function "public"."get_sound"/,
    /^grant execute on function "public"."get_sound"\(uuid\) to "authenticated"/,
    /^create or replace function private.list_categories\(\) [\s\S]* set enable_seqscan = off/,
    /^alter table "public"."favorites"\s+enable trigger "favorites_limit"/,
    /^create trigger sounds_service_limit_metadata/,
  ])
    expect(statements).toContainEqual(expect.stringMatching(missing));
}
