import { writeFile } from 'node:fs/promises';
import { supabase } from './database.ts';
import { startScratchDatabase } from './scratch-database.ts';

/** The TypeScript types of a database's public tables and functions, as the Supabase CLI writes them. */
export function databaseTypes(databaseUrl: string): Promise<string> {
  return supabase(['gen', 'types', `--remote=${databaseUrl}`]);
}

// `npm run types`
if (import.meta.main) {
  const database = await startScratchDatabase();
  try {
    await writeFile(
      new URL('../src/supabase/database.types.ts', import.meta.url),
      await databaseTypes(database.databaseUrl),
    );
  } finally {
    await database.stop();
  }
}
