import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import postgres from 'postgres';
import { type Api, type ApiOptions, startApi } from './api.ts';
import { startCron } from './cron.ts';
import { migrate, prepareDatabase } from './database.ts';
import { lockFolder } from './folder-lock.ts';
import { requireFreePorts } from './free-port.ts';
import { type LocalKeys, localKeys } from './keys.ts';
import { migrationDrift } from './migrations.ts';
import { type Postgres, startPostgres, stopLeftover } from './postgres.ts';
import { removeFolder } from './postgres-files.ts';

/** A local Supabase without Docker: PostgreSQL and a Supabase-compatible API, on 127.0.0.1. */
export interface Stack extends Pick<Postgres, 'databaseUrl' | 'exited'>, Pick<Api, 'publicUrl'>, LocalKeys {
  readonly apiUrl: string;
  /** Ends all processes and keeps all committed data. Can be called twice. */
  stop(): Promise<void>;
}

interface StackOptions extends Pick<ApiOptions, 'emailConfirmations' | 'signing' | 'host'> {
  /** Folder of the database and of files, created if missing. One stack at a time can use it. */
  dataDir: string;
  /** 0 picks a free port. */
  apiPort: number;
  databasePort: number;
  /** Other ports that must be free, by the variable that sets each port. */
  otherPorts?: Record<string, number>;
  /** Deletes the contents of the folder first. */
  fresh?: boolean;
  /** False is faster, but can lose data in a crash of the machine. Default: true. */
  durable?: boolean;
  /** Allows guests, at Auth and in the database. Default: Auth refuses them. */
  guests?: boolean;
  /** Receives one line for each step and each mail. */
  log?: (line: string) => void;
}

/**
 * Starts the stack with all migrations applied. First ends the server of a killed run, if any.
 * @throws an Error of one sentence if a port or the folder is in use
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { apiPort, databasePort, durable = true, guests = false, log = () => {} } = options;
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  // Let the account that runs Postgres for root enter the folder.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  await using starting = new AsyncDisposableStack();
  starting.defer(lockFolder(dataDir));
  const database = join(dataDir, 'postgres');
  const storageDir = join(dataDir, 'storage');
  await stopLeftover(database);
  // Check ports after the lock, so that a second run reports the folder and a killed run has released its ports.
  await requireFreePorts({ ...options.otherPorts, SUPABASE_PORT: apiPort, SUPABASE_DB_PORT: databasePort });
  if (options.fresh) {
    removeFolder(database);
    rmSync(storageDir, { recursive: true, force: true });
  }
  log('Starting PostgreSQL');
  const postgres = await startPostgres({ dataDir: database, port: databasePort, durable });
  starting.defer(postgres.stop);
  const { databaseUrl, exited, folder } = postgres;
  if (!folder.startsWith(database))
    log(`The database is in ${folder}: Postgres cannot run as root, and other accounts cannot enter ${database}`);
  await prepareDatabase(databaseUrl);
  await applyMigrations(databaseUrl, log);
  if (guests) await allowGuests(databaseUrl);
  log('Starting Auth, the data API and Storage');
  const api = await startApi({ ...options, anonymousSignIns: guests, databaseUrl, storageDir, port: apiPort });
  starting.defer(api.stop);
  starting.defer(await startCron(databaseUrl, log));
  const started = starting.move();
  const { url: apiUrl, publicUrl } = api;
  return { apiUrl, publicUrl, databaseUrl, ...localKeys, exited, stop: () => started.disposeAsync() };
}

/** Writes the row that lets the database accept guests, as the snippet allow_guests does. */
async function allowGuests(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`insert into private.guests_allowed default values on conflict (is_allowed) do nothing`;
  await sql.end();
}

const startOver = 'start over with an empty database: npm run dev -- --fresh';

async function applyMigrations(databaseUrl: string, log: (line: string) => void): Promise<void> {
  const { changed, missing, pending, late } = await migrationDrift(databaseUrl);
  const [edited] = changed;
  if (edited?.endsWith('_baseline.sql'))
    throw new Error(
      `The database was made by an earlier ${edited}. Nothing upgrades it before the first release: ${startOver}. To keep the catalogue, run npm run export in the older checkout first, and npm run import afterwards.`,
    );
  if (edited)
    throw new Error(
      `${edited} was edited after it was applied. To keep the data, restore the file and write the change into a new one (npm run migration -- name_of_the_change); else ${startOver}`,
    );
  if (late)
    throw new Error(
      `${late.file} is older than what the database has. To keep the data, give its name a later time than ${late.last}; else ${startOver}`,
    );
  // Replaces the advice of the CLI to edit the history, which would keep the changes of these migrations.
  if (missing.length > 0)
    throw new Error(
      `The database has migrations that are not in supabase/migrations: ${missing.join(', ')}. Put the files back, or ${startOver}`,
    );
  if (pending.length === 0) return;
  log('Applying migrations');
  await migrate(databaseUrl).catch((error: Error) => {
    const words = error.message.trim();
    const failed = [...words.matchAll(/^Applying migration (\S+)\.\.\.$/gm)].at(-1)?.[1];
    const remedy = failed
      ? `Correct supabase/migrations/${failed} and run npm run dev again: nothing of this file was applied.`
      : `The migrations cannot be applied to this database. To have them all, ${startOver}`;
    throw new Error(`${words}\n${remedy}`);
  });
}
