import { writeFile } from 'node:fs/promises';
import { supabase } from 'local-supabase/database';
import { startScratchDatabase } from 'local-supabase/scratch-database';
import postgres from 'postgres';

/** In the order of their names, as `jsonb` has it otherwise by length. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

/** What the doctor compares a database with: how tables, functions, grants and the like stand in this one. */
export async function schemaOf(databaseUrl: string): Promise<string> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    const [row] = await sql`select private.schema_report() as schema`;
    return `${JSON.stringify(sorted(row?.['schema']), null, 2)}\n`;
  } finally {
    await sql.end();
  }
}

/** What is made from a database with the migrations: the types of its tables and functions as the Supabase CLI writes them, and its schema. */
export const generatedFiles = async (databaseUrl: string): Promise<Record<string, string>> => ({
  'src/supabase/database.types.ts': await supabase(['gen', 'types', `--remote=${databaseUrl}`]),
  'src/doctor/schema.json': await schemaOf(databaseUrl),
});

// `npm run types`
if (import.meta.main) {
  const { databaseUrl, stop } = await startScratchDatabase();
  try {
    for (const [file, text] of Object.entries(await generatedFiles(databaseUrl)))
      await writeFile(new URL(`../../${file}`, import.meta.url), text);
  } finally {
    await stop();
  }
}
