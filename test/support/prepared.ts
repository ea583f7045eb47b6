import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrate, prepareDatabase } from 'local-supabase/database';
import { startPostgres } from 'local-supabase/postgres';
import { ownFolder, type Release } from 'local-supabase/postgres-files';
import { type ScratchDatabase, startScratchDatabase } from 'local-supabase/scratch-database';

// Making a cluster and applying the migrations takes ten times as long as copying the files of one that has them: they are
// made once in a run, and who needs a database of their own gets a copy.

/** `bare` is what a hosted project has before its first migration; `migrated` has all of them, and nothing else. */
type State = 'bare' | 'migrated';

const made = (state: State) => join(tmpdir(), `prepared-${state}`);

async function copyCluster(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(ownFolder(from), 'cluster'), ownFolder(to)]);
}

/** Makes what is copied, in the folder for temporary files: once in a run. */
export async function prepareClusters(): Promise<void> {
  const steps: [State, (databaseUrl: string) => Promise<void>][] = [
    ['bare', prepareDatabase],
    ['migrated', migrate],
  ];
  for (const [state, step] of steps) {
    if (state === 'migrated') await copyCluster(made('bare'), made('migrated'));
    const server = await startPostgres({ dataDir: made(state), port: 0, durable: false });
    await step(server.databaseUrl);
    await server.stop();
  }
}

/**
 * Makes a folder as `npm run dev` keeps one: for `startStack`, `DEV_DATA_DIR`, or, with `postgres` below it, `startPostgres`.
 * @returns the folder, whose owner removes it
 */
export async function preparedFolder(state: State = 'migrated'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-prepared-'));
  // If the tests run as root, Postgres runs as another account, which must be able to enter.
  await chmod(folder, 0o711);
  await copyCluster(made(state), join(folder, 'postgres'));
  return folder;
}

/** Starts a database like `startScratchDatabase` of dev, from a prepared copy. */
export async function startDatabase(release: Release = 17): Promise<ScratchDatabase> {
  // Too few need the other release.
  if (release !== 17) return startScratchDatabase(release);
  const folder = await preparedFolder();
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, durable: false });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  };
  return { databaseUrl: server.databaseUrl, stop };
}
