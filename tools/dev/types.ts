import { writeFile } from 'node:fs/promises';
import { supabase } from 'local-supabase/database';
import { startScratchDatabase } from 'local-supabase/scratch-database';

/** The TypeScript types of the public tables and functions that the migrations make, as the Supabase CLI writes them. */
export async function databaseTypes(): Promise<string> {
  const database = await startScratchDatabase();
  try {
    return await supabase(['gen', 'types', `--remote=${database.databaseUrl}`]);
  } finally {
    await database.stop();
  }
}

// `npm run types`
if (import.meta.main) {
  await writeFile(new URL('../../src/supabase/database.types.ts', import.meta.url), await databaseTypes());
}
