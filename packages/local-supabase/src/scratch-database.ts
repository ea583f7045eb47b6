import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, prepareDatabase } from './database.ts';
import { startPostgres } from './postgres.ts';
import type { Release } from './postgres-files.ts';

/** Temporary database on a separate server, without Auth, Storage and the data API. */
export interface ScratchDatabase {
  /** Address for the role `postgres`. */
  readonly databaseUrl: string;
  /** Ends the server and removes everything. */
  stop(): Promise<void>;
}

/** Starts a database in the state of a hosted project before its first migration. */
export async function startBareDatabase(release: Release = 17): Promise<ScratchDatabase> {
  await using starting = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'local-supabase-scratch-'));
  starting.defer(() => rm(dataDir, { recursive: true }));
  const { databaseUrl, stop } = await startPostgres({ dataDir, port: 0, durable: false, release });
  starting.defer(stop);
  await prepareDatabase(databaseUrl);
  const started = starting.move();
  return { databaseUrl, stop: () => started.disposeAsync() };
}

/**
 * Starts a database with only the migrations.
 * @throws the message of a failing migration, after the server has ended
 */
export async function startScratchDatabase(release?: Release): Promise<ScratchDatabase> {
  await using starting = new AsyncDisposableStack();
  const database = starting.adopt(await startBareDatabase(release), ({ stop }) => stop());
  await migrate(database.databaseUrl);
  starting.move();
  return database;
}
