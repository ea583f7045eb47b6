import type { SupabaseClient } from '@supabase/supabase-js';
import { ImportError, Rejected } from '../shared/problems.ts';

/** Row limit of a response of the data API. */
const PAGE = 1000;

/**
 * Reads all rows of a table.
 * @param key a column of unique uuids
 * @throws ImportError
 */
export async function allRows<T>(client: SupabaseClient, table: string, key: keyof T & string): Promise<T[]> {
  const rows: T[] = [];
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    // No retries here, because the fetch of this client already retries.
    const page = client.from(table).select().gt(key, last).order(key).limit(PAGE).retry(false);
    const { data }: { data: T[] | null } = await page.throwOnError().then(undefined, readingFailed);
    if (!Array.isArray(data)) return readingFailed(new Error('it is not a list of rows'));
    rows.push(...data);
    if (data.length < PAGE) return rows;
    last = String(data.at(-1)?.[key]);
  }
}

/** Writes a row, or replaces the one with the same `key`. */
export async function upsertRow(client: SupabaseClient, table: string, row: object, key: string): Promise<void> {
  const query = client.from(table).upsert(row, { onConflict: key });
  await query.throwOnError().then(undefined, (error) => writingFailed(error, 'Correct the sheet.'));
}

const NO_MIGRATIONS = 'The database lacks tables that the import needs. Apply the migrations: npx supabase db push';

/** @throws ImportError that suggests a wrong URL only if no database has answered */
export function readingFailed(error: unknown): never {
  if (error instanceof ImportError) throw error;
  const code = codeOf(error);
  if (/^PGRST20[25]$|^42P01$/.test(code)) throw new ImportError(NO_MIGRATIONS);
  const [reason = ''] = String((error as Error).message)
    .trim()
    .split('\n');
  if (/^([0-9A-Z]{5}|PGRST.*)$/.test(code))
    throw new ImportError(`The database reports an error: ${reason} (${code}). npm run doctor may find its cause.`);
  throw new ImportError(`This is not a Supabase project (${reason.slice(0, 80)}). Check SUPABASE_URL.`);
}

/** @throws Rejected if the database rejects the row, ImportError if it rejects all rows, or the error itself */
export function writingFailed(error: unknown, remedy?: string): never {
  const code = codeOf(error);
  if (code === '25006' || code.startsWith('53'))
    throw new ImportError('The database is full or read-only. Check it in the dashboard.');
  if (!/^(22|23|PGRST)/.test(code)) throw error;
  throw new Rejected(rejectionOf((error as Error).message, remedy));
}

const IN_SOUNDS = 'Correct it in the tags of the file or in sounds.csv.';

/** Explains an error of the database. The names of its constraints say what they require. */
export function rejectionOf(message: string, remedy = IN_SOUNDS): string {
  const rule = / constraint "(\w+)"/.exec(message)?.[1]?.replaceAll('_', ' ');
  const reason = rule ? `The database requires: ${rule}.` : `The database rejects it: ${message}.`;
  return `${reason} ${remedy}`;
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
