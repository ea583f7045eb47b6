import { readFileSync } from 'node:fs';
import { as, migrate } from 'local-supabase/database';
import { SUPERUSER } from 'local-supabase/postgres';
import type { Release } from 'local-supabase/postgres-files';
import { startBareDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';
import { applySchemaFiles } from './schema-files.ts';

/** The folder that holds `supabase/`. */
export const PROJECT = new URL('../../', import.meta.url);

/** What the migrations make beside what the schema files declare: databases of one server, that is thrown away. */
export interface SchemaDatabases {
  readonly migrated: string;
  readonly declared: string;
  /** Those of the schema files. */
  readonly statements: readonly string[];
  /** Copies the migrated database and fills the copy with samples: the catalogue, and what users and admins leave in it. */
  fillCopy(): Promise<FilledCopy>;
  stop(): Promise<void>;
}

export interface FilledCopy {
  readonly databaseUrl: string;
  /** Which samples the migrations do not take, as where a function that they call has another name now; and why. */
  readonly missing: string[];
}

/**
 * @param project the folder that holds `supabase/`
 * @throws where a migration fails the words of the CLI, where a schema file does what `applySchemaFiles` says
 */
export async function startSchemaDatabases(
  release: Release = 17,
  project = PROJECT,
): Promise<SchemaDatabases> {
  await using starting = new AsyncDisposableStack();
  const { databaseUrl: migrated, stop } = await startBareDatabase(release);
  starting.defer(stop);
  const declared = await copyDatabase(migrated, 'declared');
  const statements = await applySchemaFiles(declared, new URL('supabase/schemas/', project));
  await migrate(migrated, project);
  starting.move();
  return { migrated, declared, statements, fillCopy: () => fillCopy(migrated), stop };
}

async function copyDatabase(databaseUrl: string, name: string): Promise<string> {
  const sql = postgres(as(SUPERUSER, sibling(databaseUrl, 'template1')), { max: 1, onnotice() {} });
  try {
    await sql`create database ${sql(name)} template postgres owner postgres`;
  } finally {
    await sql.end();
  }
  return sibling(databaseUrl, name);
}

async function fillCopy(migrated: string): Promise<FilledCopy> {
  const databaseUrl = await copyDatabase(migrated, 'copy');
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  const missing: string[] = [];
  for (const file of [new URL('supabase/seed.sql', PROJECT), new URL('usage.sql', import.meta.url)])
    await sql
      .begin((transaction) => transaction.unsafe(readFileSync(file, 'utf8')))
      .catch((error: Error) =>
        missing.push(`${file.pathname.slice(PROJECT.pathname.length)}: ${error.message}`),
      );
  await sql.end();
  return { databaseUrl, missing };
}

/** Another database of the same server. */
function sibling(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = name;
  return url.href;
}
