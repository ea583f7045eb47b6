import type { SupabaseClient } from '@supabase/supabase-js';
import { codeOf, type Imported, type Row, readingFailed } from './catalogue.ts';
import type { Fields } from './fields.ts';
import { ImportError, Rejected } from './problems.ts';

/** Makes the row of a new sound. One that is there already is left as it is: it was made by a request whose answer got lost. */
export async function insertSound(
  client: SupabaseClient,
  row: Fields & { id: string; created_at: string },
): Promise<void> {
  const query = client.from('sounds').upsert(row, { onConflict: 'id', ignoreDuplicates: true });
  await query.throwOnError().then(undefined, writingFailed);
}

/**
 * Writes fields of a sound as it was read.
 * @throws Rejected when somebody has changed it since
 */
export async function updateSound(
  client: SupabaseClient,
  { id, updated_at }: Row,
  fields: Fields,
): Promise<void> {
  const query = client.from('sounds').update(fields).eq('id', id).eq('updated_at', updated_at).select('id');
  const { data } = await query.throwOnError().then(undefined, writingFailed);
  if (data.length === 0)
    throw new Rejected('It was changed in the dashboard during the import. Run the import again.');
}

/** Remembers what an import wrote, for the next. */
export async function remember(client: SupabaseClient, imported: Imported): Promise<void> {
  const query = client.from('imported_sounds').upsert(imported, { onConflict: 'sound_id' });
  await query.throwOnError().then(undefined, writingFailed);
}

/** Writes a row of another table, in the place of one with the same `key`. */
export async function upsertRow(
  client: SupabaseClient,
  table: string,
  row: object,
  key: string,
): Promise<void> {
  const query = client.from(table).upsert(row, { onConflict: key });
  await query.throwOnError().then(undefined, (error) => writingFailed(error, 'Correct the sheet.'));
}

const ROWS_AT_ONCE = 500;

/**
 * Asks the database, which writes nothing, what it has against rows of sounds.
 * @returns why, by the index of the row
 */
export async function refusedRows(client: SupabaseClient, rows: Fields[]): Promise<Map<number, string>> {
  const rejected = new Map<number, string>();
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
    const sounds = rows.slice(first, first + ROWS_AT_ONCE);
    const query = client.rpc('validate_sounds', { sounds });
    const { data } = await query.throwOnError().then(undefined, readingFailed);
    for (const { index, message } of data as { index: number; message: string }[])
      rejected.set(first + index, sentenceOf(message));
  }
  return rejected;
}

const IN_SOUNDS = 'Correct it in the tags of the file or in sounds.csv.';

/** What the database has against a row: its constraints are named after what they ask for. */
function sentenceOf(message: string, remedy = IN_SOUNDS): string {
  const rule = / constraint "(\w+)"/.exec(message)?.[1]?.replaceAll('_', ' ');
  const reason = rule ? `The database requires: ${rule}.` : `The database rejects it: ${message}.`;
  return `${reason} ${remedy}`;
}

/** @throws Rejected where the database has something against the row, else ImportError or what it was */
export function writingFailed(error: unknown, remedy?: string): never {
  const code = codeOf(error);
  if (code === '25006' || code.startsWith('53'))
    throw new ImportError('The database is full or read-only. Check it in the dashboard.');
  if (!/^(22|23|PGRST)/.test(code)) throw error;
  throw new Rejected(sentenceOf((error as Error).message, remedy));
}
