import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getAuthSchemaSql, getStorageSchemaSql } from '@supabase/lite';
import postgres from 'postgres';
import { SUPERUSER } from './postgres.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const migrations = join(root, 'supabase/migrations');

/** The same database, as another role. */
export function as(role: string, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  return url.href;
}

/** Gives a new cluster what a hosted project has before its first migration; changes nothing on later calls. */
export async function prepareDatabase(databaseUrl: string): Promise<void> {
  const sql = postgres(as(SUPERUSER, databaseUrl), { max: 1, onnotice() {} });
  try {
    const [row] = await sql`select to_regrole('authenticator') is not null as prepared`;
    if (row?.['prepared']) return;
    const prelude = readFileSync(new URL('prelude.sql', import.meta.url), 'utf8');
    await sql.begin(async (transaction) => {
      await transaction.unsafe(prelude);
      await transaction.unsafe(`set local role supabase_auth_admin; ${getAuthSchemaSql()}; ${AUTH_GRANTS}`);
      await transaction.unsafe(
        `set local role supabase_storage_admin; ${getStorageSchemaSql()}; ${STORAGE_GRANTS}`,
      );
    });
  } finally {
    await sql.end();
  }
}

// The owner of the data may use every row of Auth, and hang triggers and foreign keys on it, but not change its tables.
const AUTH_GRANTS =
  'grant all on all tables in schema auth to postgres; grant all on all sequences in schema auth to postgres';

const STORAGE_GRANTS = `
grant all on storage.buckets, storage.objects to postgres with grant option;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role`;

/**
 * Applies the migrations that the database has not seen, with the Supabase CLI, as `postgres`.
 * @throws with the CLI's words when one fails; that file is then rolled back, earlier ones stay
 */
export async function migrate(databaseUrl: string): Promise<void> {
  await supabase(['migration', 'up', `--remote=${databaseUrl}`, '--yes']);
}

/** How the files in supabase/migrations differ from what a database has applied. */
export interface MigrationDrift {
  /** Files whose version was applied with other statements: they were edited since, or replaced another file. */
  changed: { file: string; applied: string }[];
  /** What was applied and has no file any more, as `<version>_<name>.sql`. */
  missing: string[];
}

/** Compares the files with the statements that the CLI has recorded; one that has recorded none differs in nothing. */
export async function migrationDrift(databaseUrl: string): Promise<MigrationDrift> {
  const history = await appliedMigrations(databaseUrl);
  const files = readdirSync(migrations).filter((file) => file.endsWith('.sql'));
  const changed = files.flatMap((file) => {
    const applied = history.find(({ version }) => version === versionOf(file));
    if (!applied?.statements) return [];
    const text = readFileSync(join(migrations, file), 'utf8');
    const same = withoutSeparators(text) === withoutSeparators(applied.statements.join(''));
    return same ? [] : [{ file: `supabase/migrations/${file}`, applied: nameOf(applied) }];
  });
  const versions = new Set(files.map(versionOf));
  return { changed, missing: history.filter(({ version }) => !versions.has(version)).map(nameOf) };
}

interface AppliedMigration {
  version: string;
  name: string | null;
  statements: string[] | null;
}

const versionOf = (file: string) => file.split('_', 1)[0] ?? '';
const nameOf = ({ version, name }: AppliedMigration) => (name ? `${version}_${name}.sql` : version);

async function appliedMigrations(databaseUrl: string): Promise<AppliedMigration[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  try {
    const [row] = await sql`select to_regclass('supabase_migrations.schema_migrations') is null as untouched`;
    if (row?.['untouched']) return [];
    return await sql<AppliedMigration[]>`
      select version, name, statements from supabase_migrations.schema_migrations order by version`;
  } finally {
    await sql.end();
  }
}

/** The CLI splits a file at its semicolons, and keeps neither these nor the space around them. */
const withoutSeparators = (text: string) => text.replace(/[\s;]+/g, '');

/**
 * Runs the Supabase CLI in this repository, without its notices and without a trace in the home folder.
 * @returns what it printed to stdout
 */
export async function supabase(args: string[]): Promise<string> {
  const cli = fileURLToPath(new URL('dist/supabase.js', import.meta.resolve('supabase/package.json')));
  const home = await mkdtemp(join(tmpdir(), 'supabase-cli-'));
  const env = {
    ...process.env,
    SUPABASE_HOME: home,
    TMPDIR: home,
    SUPABASE_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    // Our server speaks no TLS.
    PGSSLMODE: 'disable',
  };
  try {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [cli, ...args], { cwd: root, env, maxBuffer: 2 ** 26 });
    return stdout;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
