import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { as, migrate, prepareDatabase } from '@sounds-service/local-supabase/database';
import { clusterFolder, startPostgres, superuserName } from '@sounds-service/local-supabase/postgres';
import { ownFolder, type Release } from '@sounds-service/local-supabase/postgres-files';
import { startBareDatabase, startScratchDatabase } from '@sounds-service/local-supabase/scratch-database';
import postgres from 'postgres';
import { inject } from 'vitest';

// The migrations are applied once in a run. Tests copy the files of the prepared cluster, or a database in it.

const preparedDir = () => join(tmpdir(), 'prepared');

/** State of a database: `bare` as a hosted project before its first migration, `migrated` with only the migrations. */
type State = 'bare' | 'migrated';

/** Runs a statement about a whole database as the superuser. */
async function administer(databaseUrl: string, statement: string): Promise<void> {
  const sql = postgres(as(superuserName, databaseUrl), { database: 'template1', max: 1, onnotice() {} });
  await sql.unsafe(statement);
  await sql.end();
}

/** Makes the cluster that tests copy, with a database in each state. Called once in a run. */
export async function prepareCluster(): Promise<void> {
  const server = await startPostgres({ dataDir: preparedDir(), port: 0, durable: false });
  for (const [state, make] of Object.entries({ bare: prepareDatabase, migrated: migrate })) {
    await make(server.databaseUrl);
    await administer(server.databaseUrl, `create database ${state} template postgres owner postgres`);
  }
  await server.stop();
}

/**
 * Makes a migrated data folder for `startStack` or `DEV_DATA_DIR`. The folder `postgres` in it is one for
 * `startPostgres`.
 * @returns the folder, which the caller must remove
 */
export async function preparedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-prepared-'));
  // Let the account that runs Postgres for root enter the folder.
  await chmod(folder, 0o711);
  await promisify(execFile)('cp', ['-a', clusterFolder(preparedDir()), ownFolder(join(folder, 'postgres'))]);
  return folder;
}

/** Makes a database that a test may change, on the server of the run or, for another release, on a separate one. */
export async function startDatabase(release: Release = 17, state: State = 'migrated') {
  const { databaseUrl, embedded } = inject('stack');
  if (release !== 17 || !embedded) return state === 'bare' ? startBareDatabase(release) : startScratchDatabase(release);
  const name = `test_${randomUUID().replaceAll('-', '_')}`;
  await administer(databaseUrl, `create database ${name} template ${state} owner postgres`);
  const stop = () => administer(databaseUrl, `drop database ${name} with (force)`);
  return { databaseUrl: new URL(name, databaseUrl).href, stop };
}
