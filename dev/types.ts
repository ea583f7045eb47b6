import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, prepareDatabase, supabase } from './database.ts';
import { startPostgres } from './postgres.ts';

/** The TypeScript types of a database's public tables and functions, as the Supabase CLI writes them. */
export function databaseTypes(databaseUrl: string): Promise<string> {
  return supabase(['gen', 'types', `--remote=${databaseUrl}`]);
}

/** The same of a database that holds the migrations and nothing else. */
async function typesOfMigrations(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sounds-service-types-'));
  const { databaseUrl, stop } = await startPostgres({ dataDir, port: 0, durable: false });
  try {
    await prepareDatabase(databaseUrl);
    await migrate(databaseUrl);
    return await databaseTypes(databaseUrl);
  } finally {
    await stop();
    await rm(dataDir, { recursive: true });
  }
}

// `npm run types`
if (import.meta.main) {
  await writeFile(new URL('../src/database.types.ts', import.meta.url), await typesOfMigrations());
}
