import { writeFile } from 'node:fs/promises';
import { supabase } from '@sounds-service/local-supabase/database';
import { startScratchDatabase } from '@sounds-service/local-supabase/scratch-database';

/** Returns the types of tables and functions, as the Supabase CLI writes them. */
export const databaseTypes = (databaseUrl: string) => supabase(['gen', 'types', `--remote=${databaseUrl}`]);

// `npm run types`
if (import.meta.main) {
  const { databaseUrl, stop } = await startScratchDatabase();
  try {
    const file = new URL('../../src/supabase/database.types.ts', import.meta.url);
    await writeFile(file, await databaseTypes(databaseUrl));
  } finally {
    await stop();
  }
}
