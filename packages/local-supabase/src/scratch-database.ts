import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, prepareDatabase } from './database.ts';
import { startPostgres } from './postgres.ts';
import type { Release } from './postgres-files.ts';

/** A database to be used up: on a server of its own, without Auth, Storage and the data API in front. */
export interface ScratchDatabase {
  /** As the role `postgres`. */
  readonly databaseUrl: string;
  /** Ends the server and removes everything. */
  stop(): Promise<void>;
}

/**
 * Starts a database that holds what a hosted project has before its first migration.
 * @param durable whether it waits for the disk, which what is thrown away need not
 */
export async function startBareDatabase(
  release: Release = 17,
  { durable = false } = {},
): Promise<ScratchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'local-supabase-scratch-'));
  const { databaseUrl, ...postgres } = await startPostgres({ dataDir, port: 0, durable, release });
  const stop = async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true });
  };
  await orStop(stop, () => prepareDatabase(databaseUrl));
  return { databaseUrl, stop };
}

/**
 * Starts a database that holds the migrations and nothing else.
 * @param options as of `startBareDatabase`
 * @throws what a failing migration says; nothing is left behind
 */
export async function startScratchDatabase(
  release?: Release,
  options?: { durable?: boolean },
): Promise<ScratchDatabase> {
  const database = await startBareDatabase(release, options);
  await orStop(database.stop, () => migrate(database.databaseUrl));
  return database;
}

/** Runs `work`, and `stop` where it fails. */
export async function orStop<T>(stop: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await stop();
    throw error;
  }
}
