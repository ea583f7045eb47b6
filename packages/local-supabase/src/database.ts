import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getAuthSchemaSql, getStorageSchemaSql } from '@supabase/lite';
import postgres from 'postgres';
import { superuserName } from './postgres.ts';
import { projectFolder } from './project.ts';

/** Returns the address of the same database for another role. */
export function as(role: string, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  return url.href;
}

/** Brings a new database into the state of a hosted project before its first migration. */
export async function prepareDatabase(databaseUrl: string): Promise<void> {
  const sql = postgres(as(superuserName, databaseUrl), { max: 1, onnotice() {} });
  try {
    const [row] = await sql`
      select to_regrole('authenticator') is null as empty, to_regnamespace('cron') is null as without_cron`;
    await sql.begin(async (transaction) => {
      if (row?.['empty']) {
        await transaction.unsafe(sqlFile('prelude'));
        await transaction.unsafe(`set local role supabase_auth_admin; ${getAuthSchemaSql()}; ${authAdditions}`);
        await transaction.unsafe(
          `set local role supabase_storage_admin; ${getStorageSchemaSql()}; ${storageGrants}; reset role`,
        );
      }
      // Add Cron to data folders of older checkouts.
      if (row?.['without_cron']) await transaction.unsafe(sqlFile('cron'));
    });
  } finally {
    await sql.end();
  }
}

const sqlFile = (name: string) => readFileSync(new URL(`${name}.sql`, import.meta.url), 'utf8');

// Adds second factors, passkeys and the third-party app of a session, which Lite lacks. `postgres` may use Auth's rows,
// triggers and keys, but not alter its tables.
const authAdditions = `
create table auth.mfa_factors (
  id uuid primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  friendly_name text,
  factor_type text not null,
  status text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create table auth.webauthn_credentials (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  friendly_name text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table auth.sessions add oauth_client_id uuid;
grant all on all tables in schema auth to postgres;
grant all on all sequences in schema auth to postgres`;

const storageGrants = `
grant all on storage.buckets, storage.objects to postgres with grant option;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role`;

/**
 * Applies pending migrations with the Supabase CLI, as `postgres`.
 * @param project folder that holds `supabase/`
 * @throws the message of the CLI if a file fails; the file is rolled back
 */
export async function migrate(databaseUrl: string, project = projectFolder): Promise<void> {
  const workdir = `--workdir=${fileURLToPath(project)}`;
  await supabase(['migration', 'up', `--remote=${databaseUrl}`, '--yes', workdir]);
}

/**
 * Runs the Supabase CLI in this repository, without notices and without files in the home folder.
 * @returns its stdout
 */
export async function supabase(args: string[]): Promise<string> {
  const cli = fileURLToPath(new URL('dist/supabase.js', import.meta.resolve('supabase/package.json')));
  await using home = await mkdtempDisposable(join(tmpdir(), 'supabase-cli-'));
  const env = {
    ...process.env,
    SUPABASE_HOME: home.path,
    TMPDIR: home.path,
    SUPABASE_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    // The server has no TLS.
    PGSSLMODE: 'disable',
  };
  const options = { cwd: projectFolder, env, maxBuffer: 2 ** 26 };
  return (await promisify(execFile)(process.execPath, [cli, ...args], options)).stdout;
}
