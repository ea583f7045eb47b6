import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../src/supabase/database.types.ts';

export type Tables = Database['public']['Tables'];
export type Row = Tables['sounds']['Row'];
/** A row that was deleted in the dashboard has the time of that, and can be brought back. */
interface Deletable {
  deleted_at?: string | null;
}
export type Category = Omit<Tables['categories']['Row'], 'created_at' | 'updated_at' | 'deleted_at'> & Deletable;
/** A section of the home page, with the ids of its sounds in their order. */
export type Section = Omit<Tables['home_sections']['Row'], 'updated_at' | 'deleted_at'> &
  Deletable & { sounds: string[] };

/** Tells whether a row was deleted in the dashboard and can be brought back. */
export const isInTrash = (row: Deletable | undefined) => typeof row?.deleted_at === 'string';

/** Explains why a row of the trash is not written, and how to bring it back. */
export const trashed = ({ deleted_at }: Deletable) =>
  `deleted on ${deleted_at?.slice(0, 10)}, set is_active to true in the dashboard to bring it back`;

/** The columns of `public.sounds` that an import writes, with their names in messages. */
export const columnNames = {
  title: 'title',
  description: 'description',
  bowl_note: 'bowl note',
  frequency_hz: 'frequency',
  duration_sec: 'length',
  category: 'category',
  tags: 'tags',
  cover_image_path: 'picture',
  audio_path: 'recording',
  is_featured: 'is_featured',
  is_premium: 'is_premium',
  is_active: 'is_active',
  sort_order: 'sort order',
};
export type Column = keyof typeof columnNames;
export type Fields = Partial<Pick<Row, Column>>;

/** The columns of `public.sounds` that were measured in the files. */
export type Facts = Partial<Pick<Row, 'loudness_lufs' | 'true_peak_dbtp' | 'waveform' | 'cover_placeholder'>>;

/**
 * Returns the facts of a file that its sound lacks, or has from an earlier measurement. Leaves out facts that were
 * entered by hand.
 * @param outdated facts of the earlier measurement
 */
export function factsToWrite(row: Facts, facts: Facts, outdated?: Facts | null): Facts {
  const isOpen = (column: keyof Facts) =>
    (row[column] ?? null) === null || (outdated && isDeepStrictEqual(row[column], outdated[column]));
  const isNew = (column: keyof Facts) => isOpen(column) && !isDeepStrictEqual(row[column], facts[column]);
  return Object.fromEntries(Object.entries(facts).filter(([column]) => isNew(column as keyof Facts)));
}

/** Defaults of the database; null for the other columns. */
export const columnDefaults: Fields = { is_featured: false, is_premium: false, is_active: true, sort_order: 0 };

export const columnsOf = (fields: object) => Object.keys(fields) as Column[];

export function pick(fields: Fields, columns: Column[]): Fields {
  return Object.fromEntries(columns.map((column) => [column, fields[column]]));
}
