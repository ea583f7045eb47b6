import { readFileSync } from 'node:fs';
import { as, migrate } from '@sounds-service/local-supabase/database';
import { superuserName } from '@sounds-service/local-supabase/postgres';
import type { Release } from '@sounds-service/local-supabase/postgres-files';
import { startBareDatabase } from '@sounds-service/local-supabase/scratch-database';
import postgres from 'postgres';
import { applySchemaFiles } from './schema-files.ts';

/** The folder that holds `supabase/`. */
export const projectFolder = new URL('../../', import.meta.url);

/** Two databases on a temporary server: one made by the migrations, one by the schema files. */
export interface SchemaDatabases {
  readonly migrated: string;
  readonly declared: string;
  /** Statements of the schema files. */
  readonly statements: readonly string[];
  /** Copies the migrated database, and fills the copy with the sample catalogue and rows of users and admins. */
  fillCopy(): Promise<FilledCopy>;
  stop(): Promise<void>;
}

interface FilledCopy {
  readonly databaseUrl: string;
  /** Sample files that the migrated database rejects, with the reason, such as a function that was renamed. */
  readonly missing: string[];
}

/**
 * Starts both databases.
 * @param project the folder that holds `supabase/`
 * @throws if a migration or a schema file fails
 */
export async function startSchemaDatabases(release: Release = 17, project = projectFolder): Promise<SchemaDatabases> {
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
  const sql = postgres(as(superuserName, sibling(databaseUrl, 'template1')), { max: 1, onnotice() {} });
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
  for (const file of [new URL('supabase/seed.sql', projectFolder), new URL('usage.sql', import.meta.url)])
    await sql
      .begin((transaction) => transaction.unsafe(readFileSync(file, 'utf8')))
      .catch((error: Error) => missing.push(`${file.pathname.slice(projectFolder.pathname.length)}: ${error.message}`));
  await sql.end();
  return { databaseUrl, missing };
}

/** Returns the URL of another database on the same server. */
function sibling(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = name;
  return url.href;
}
