import type { SupabaseClient } from '@supabase/supabase-js';
import type { Fields } from './fields.ts';
import type { BucketLimits } from './local-file.ts';
import { ImportError, Refused } from './problems.ts';
import { limitsOf } from './storage.ts';

export type Row = { [Column in keyof Required<Fields>]: NonNullable<Fields[Column]> | null } & {
  id: string;
  updated_at: string;
};

/** What the last import wrote into a sound. */
export interface Imported {
  sound_id: string;
  file: string;
  fields: Fields;
}

export interface Category {
  id: string;
  slug: string;
  name: string;
}

/** The project as the import finds it. */
export interface Catalogue {
  /** By id. */
  sounds: Map<string, Row>;
  /** By file. */
  imported: Map<string, Imported>;
  categories: Category[];
  limits: { audio: BucketLimits; covers: BucketLimits };
}

/**
 * Reads all of it, and so finds out whether the project can be filled at all.
 * @throws ImportError
 */
export async function readCatalogue(client: SupabaseClient): Promise<Catalogue> {
  const imported = await allRows<Imported>(client, 'imported_sounds', 'sound_id');
  const sounds = await allRows<Row>(client, 'sounds', 'id');
  return {
    sounds: new Map(sounds.map((row) => [row.id, row])),
    imported: new Map(imported.map((row) => [row.file, row])),
    categories: await allRows<Category>(client, 'categories', 'id'),
    limits: { audio: await limitsOf(client, 'audio'), covers: await limitsOf(client, 'covers') },
  };
}

/** What the data API gives at most in one answer. */
const PAGE = 1000;

const NO_MIGRATIONS =
  'The database lacks tables that the import needs. Apply the migrations: npx supabase db push';

async function allRows<T>(client: SupabaseClient, table: string, key: keyof T & string): Promise<T[]> {
  const rows: T[] = [];
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    // Our fetch tries again by itself.
    const page = client.from(table).select().gt(key, last).order(key).limit(PAGE).retry(false);
    const { data }: { data: T[] | null } = await page.throwOnError().then(undefined, readingFailed);
    if (!Array.isArray(data)) return readingFailed(new Error('it is not a list of rows'));
    rows.push(...data);
    if (data.length < PAGE) return rows;
    last = String(data.at(-1)?.[key]);
  }
}

/** @throws ImportError */
function readingFailed(error: unknown): never {
  if (error instanceof ImportError) throw error;
  const code = codeOf(error);
  if (code === 'PGRST205' || code === '42P01') throw new ImportError(NO_MIGRATIONS);
  const [reason = ''] = String((error as Error).message)
    .trim()
    .split('\n');
  throw new ImportError(`This is not a Supabase project (${reason.slice(0, 80)}). Check SUPABASE_URL.`);
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

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
 * @throws Refused when somebody has changed it since
 */
export async function updateSound(
  client: SupabaseClient,
  { id, updated_at }: Row,
  fields: Fields,
): Promise<void> {
  const query = client.from('sounds').update(fields).eq('id', id).eq('updated_at', updated_at).select('id');
  const { data } = await query.throwOnError().then(undefined, writingFailed);
  if (data.length === 0)
    throw new Refused('It was changed in the dashboard during the import. Run the import again.');
}

/** Remembers what an import wrote, for the next. */
export async function remember(client: SupabaseClient, imported: Imported): Promise<void> {
  const query = client.from('imported_sounds').upsert(imported, { onConflict: 'sound_id' });
  await query.throwOnError().then(undefined, writingFailed);
}

/** What the database has against a row: its constraints are named after what they ask for. */
function writingFailed(error: unknown): never {
  const code = codeOf(error);
  if (code === '25006' || code.startsWith('53'))
    throw new ImportError('The database is full or read-only. Check it in the dashboard.');
  if (!/^(22|23|PGRST)/.test(code)) throw error;
  const { message } = error as Error;
  const rule = / constraint "(\w+)"/.exec(message)?.[1]?.replaceAll('_', ' ');
  const reason = rule ? `The database requires: ${rule}.` : `The database rejects it: ${message}.`;
  throw new Refused(`${reason} Correct it in the tags of the file or in sounds.csv.`);
}
