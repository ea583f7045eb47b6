import type { SupabaseClient } from '@supabase/supabase-js';
import type { Fields } from './fields.ts';
import type { BucketLimits } from './local-file.ts';
import { ImportError } from './problems.ts';
import { limitsOf } from './storage.ts';

export type Row = { [Column in keyof Required<Fields>]: NonNullable<Fields[Column]> | null } & {
  id: string;
  created_at: string;
  updated_at: string;
};

/** Where a sound lies in a folder. */
export interface Place {
  /** The folder; undefined for what was imported when that was not remembered yet. */
  source?: string;
  file?: string;
  key?: string;
}

/** What imports know about a sound. */
export interface Imported {
  sound_id: string;
  /** At most one in each source. */
  places: Place[];
  checksum: string | null;
  /** What the last import wrote. */
  fields: Fields;
  /** What the sheet decided. */
  said: Fields;
}

export interface Category {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  parent_id: string | null;
  sort_order: number;
  is_active: boolean;
}

/** The project as the import finds it. */
export interface Catalogue {
  /** By id. */
  sounds: Map<string, Row>;
  /** By the sound's id. */
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
    imported: new Map(imported.map((row) => [row.sound_id, row])),
    categories: await allRows<Category>(client, 'categories', 'id'),
    limits: { audio: await limitsOf(client, 'audio'), covers: await limitsOf(client, 'covers') },
  };
}

/** What the data API gives at most in one answer. */
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
    // Our fetch tries again by itself.
    const page = client.from(table).select().gt(key, last).order(key).limit(PAGE).retry(false);
    const { data }: { data: T[] | null } = await page.throwOnError().then(undefined, readingFailed);
    if (!Array.isArray(data)) return readingFailed(new Error('it is not a list of rows'));
    rows.push(...data);
    if (data.length < PAGE) return rows;
    last = String(data.at(-1)?.[key]);
  }
}

const NO_MIGRATIONS =
  'The database lacks tables that the import needs. Apply the migrations: npx supabase db push';

/** @throws ImportError */
export function readingFailed(error: unknown): never {
  if (error instanceof ImportError) throw error;
  const code = codeOf(error);
  if (/^PGRST20[25]$|^42P01$/.test(code)) throw new ImportError(NO_MIGRATIONS);
  const [reason = ''] = String((error as Error).message)
    .trim()
    .split('\n');
  throw new ImportError(`This is not a Supabase project (${reason.slice(0, 80)}). Check SUPABASE_URL.`);
}

export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
