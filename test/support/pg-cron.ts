import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { as, prepareDatabase } from '@sounds-service/local-supabase/database';
import { startPostgres, superuserName } from '@sounds-service/local-supabase/postgres';
import postgres from 'postgres';
import { pathOf } from './tools.ts';

/**
 * Starts a database in the state of a hosted project with Supabase Cron before its first migration, for a test with the
 * tag `pg-cron`. It has the newest release of Debian's PostgreSQL that hosted projects have.
 */
export async function startDatabaseWithPgCron() {
  await using starting = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'pg-cron-'));
  starting.defer(() => rm(dataDir, { recursive: true }));
  const bin = join(dirname(pathOf('pg-cron')), '../bin');
  const programs = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  const settings = { shared_preload_libraries: 'pg_cron', 'cron.host': '127.0.0.1' };
  const { databaseUrl, stop } = await startPostgres({ dataDir, port: 0, durable: false, programs, settings });
  starting.defer(stop);
  const sql = postgres(as(superuserName, databaseUrl), { max: 1, onnotice() {} });
  await sql`create extension pg_cron with schema pg_catalog`;
  await prepareDatabase(databaseUrl);
  // Add columns as in hosted projects, whose tables of Storage have more columns than those of the emulator.
  await sql`alter table storage.objects add column level integer, add column archived_at timestamptz`;
  await sql`grant usage on schema cron to postgres with grant option`;
  await sql`grant all on all tables in schema cron to postgres with grant option`;
  await sql.end();
  const started = starting.move();
  return { databaseUrl, stop: () => started.disposeAsync() };
}
