import type { SupabaseClient } from '@supabase/supabase-js';
import type { Facts, Fields, Row, Tables } from '../shared/fields.ts';
import { ImportError, Rejected } from '../shared/problems.ts';

/** Row limit of a response of the data API. */
const pageSize = 1000;

/**
 * Reads all rows of a table.
 * @param key a column of unique uuids
 * @param filter values of other columns
 * @throws ImportError
 */
export async function allRows<Name extends keyof Tables>(
  client: SupabaseClient,
  table: Name,
  key: keyof Tables[Name]['Row'] & string,
  filter = {},
) {
  const rows: Tables[Name]['Row'][] = [];
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    // No retries here, because the fetch of this client already retries.
    const page = client.from(table).select().match(filter).gt(key, last).order(key).limit(pageSize).retry(false);
    const { data } = await page.throwOnError().then(undefined, readingFailed);
    if (!Array.isArray(data)) return readingFailed(new Error('it is not a list of rows'));
    rows.push(...data);
    if (data.length < pageSize) return rows;
    last = String(rows.at(-1)?.[key]);
  }
}

/** Writes a row, or replaces the one with the same `key`. */
export async function upsertRow(client: SupabaseClient, table: string, row: object, key: string): Promise<void> {
  const query = client.from(table).upsert(row, { onConflict: key });
  await query.throwOnError().then(undefined, (error) => writingFailed(error, 'Correct the sheet.'));
}

/** Inserts a new sound. Keeps an existing row, because an earlier attempt inserted it. */
export async function insertSound(
  client: SupabaseClient,
  row: Fields & Facts & { id: string; created_at: string },
): Promise<void> {
  const query = client.from('sounds').upsert(row, { onConflict: 'id', ignoreDuplicates: true });
  await query.throwOnError().then(undefined, writingFailed);
}

/**
 * Updates fields of a sound.
 * @throws Rejected if the sound has changed since it was read
 */
export async function updateSound(client: SupabaseClient, { id, updated_at }: Row, fields: Fields): Promise<void> {
  const query = client.from('sounds').update(fields).eq('id', id).eq('updated_at', updated_at).select('id');
  const { data } = await query.throwOnError().then(undefined, writingFailed);
  if (data.length === 0) throw new Rejected('It was changed in the dashboard during the import. Run the import again.');
}

/** Writes measurements. Write the names of the files first, because a new name removes the last measurements. */
export async function updateFacts(client: SupabaseClient, id: string, facts: Facts & Fields): Promise<void> {
  await client.from('sounds').update(facts).eq('id', id).throwOnError().then(undefined, writingFailed);
}

/** Explains a failed read. @throws ImportError, which suggests a wrong URL only if no database has answered */
export function readingFailed(error: unknown): never {
  if (error instanceof ImportError) throw error;
  const code = codeOf(error);
  if (/^PGRST20[25]$|^42P01$/.test(code))
    throw new ImportError('The database lacks tables. Apply the migrations: npx supabase db push');
  const [reason = ''] = `${(error as Error).message}`.trim().split('\n');
  if (/^([0-9A-Z]{5}|PGRST.*)$/.test(code))
    throw new ImportError(`The database reports an error: ${reason} (${code}). npm run doctor may find its cause.`);
  throw new ImportError(`This is not a Supabase project (${reason.slice(0, 80)}). Check SUPABASE_URL.`);
}

/** Explains a failed write. @throws Rejected for the row, ImportError if all rows would fail, or the error itself */
export function writingFailed(error: unknown, remedy?: string): never {
  const code = codeOf(error);
  if (code === '25006' || code.startsWith('53'))
    throw new ImportError('The database is full or read-only. Check it in the dashboard.');
  if (!/^(22|23|PGRST)/.test(code)) throw error;
  throw new Rejected(rejectionOf((error as Error).message, remedy));
}

const correctSound = 'Correct it in the tags of the file or in sounds.csv.';

/** Explains an error of the database. The names of its constraints say what they require. */
export function rejectionOf(message: string, remedy = correctSound): string {
  const rule = / constraint "(\w+)"/.exec(message)?.[1]?.replaceAll('_', ' ');
  const reason = rule ? `The database requires: ${rule}.` : `The database rejects it: ${message}.`;
  return `${reason} ${remedy}`;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
