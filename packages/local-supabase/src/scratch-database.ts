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
 * Starts a database that holds the migrations and nothing else.
 * @param durable whether it waits for the disk, which what is thrown away need not
 * @throws what a failing migration says; nothing is left behind
 */
export async function startScratchDatabase(
  release: Release = 17,
  { durable = false } = {},
): Promise<ScratchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sounds-service-scratch-'));
  const postgres = await startPostgres({ dataDir, port: 0, durable, release });
  const stop = async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true });
  };
  try {
    await prepareDatabase(postgres.databaseUrl);
    await migrate(postgres.databaseUrl);
  } catch (error) {
    await stop();
    throw error;
  }
  return { databaseUrl: postgres.databaseUrl, stop };
}
