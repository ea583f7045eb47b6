import type { Release } from '@sounds-service/local-supabase/postgres-files';
import { compareSchemas } from '@sounds-service/migration/changes';
import { applySchemaFiles } from '@sounds-service/migration/schema-files';
import postgres from 'postgres';
import { expect, onTestFinished } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

// supabase/schemas declares the schema for readers, and deployments run supabase/migrations. Both must match.

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

/** Expects that migrations and schema files result in equal schemas. Returns both databases for `compareSchemas`. */
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
  return databases;
}
