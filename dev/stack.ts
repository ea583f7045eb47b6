import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startApi } from './api.ts';
import { migrate, prepareDatabase } from './database.ts';
import { LOCAL_KEYS } from './keys.ts';
import { startPostgres } from './postgres.ts';

/** A local Supabase without Docker: PostgreSQL and a Supabase-compatible API, on 127.0.0.1. */
export interface Stack {
  readonly apiUrl: string;
  /** As the role `postgres`. */
  readonly databaseUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  readonly jwtSecret: string;
  /** Settles when the database is gone, asked for or not. */
  readonly exited: Promise<void>;
  /** Ends everything, keeps everything committed. Safe to call twice. */
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Database and storage objects; made when missing. */
  dataDir: string;
  /** 0 picks a free one. */
  apiPort: number;
  databasePort: number;
  /** False trades safety against power loss for speed, for stacks that are thrown away. */
  durable?: boolean;
  /** Told what is being done, one line each. */
  log?: (line: string) => void;
}

/** Starts the stack with all migrations applied. What had started is ended again when something fails. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { dataDir, log = () => {} } = options;
  mkdirSync(dataDir, { recursive: true });
  log('Starting Postgres');
  const postgres = await startPostgres({
    dataDir: join(dataDir, 'postgres'),
    port: options.databasePort,
    durable: options.durable ?? true,
  });
  const { databaseUrl } = postgres;
  try {
    await prepareDatabase(databaseUrl);
    log('Applying migrations');
    await migrate(databaseUrl);
    log('Starting Auth, the data API and Storage');
    const api = await startApi({ databaseUrl, storageDir: join(dataDir, 'storage'), port: options.apiPort });
    return {
      apiUrl: api.url,
      databaseUrl,
      ...LOCAL_KEYS,
      exited: postgres.exited,
      async stop() {
        await api.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
