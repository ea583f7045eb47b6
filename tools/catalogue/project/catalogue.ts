import type { SupabaseClient } from '@supabase/supabase-js';
import type { Fields } from '../shared/fields.ts';
import type { BucketLimits } from '../shared/local-file.ts';
import { allRows } from './database.ts';
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

/** Makes names comparable that differ in case or in their form of Unicode. */
export const comparable = (text: string) => text.trim().normalize('NFC').toLowerCase();

/** Finds a category by its slug, or by its name if only one has that name. */
export function findCategory<T extends Pick<Category, 'slug' | 'name'>>(
  text: string,
  categories: T[],
): T | undefined {
  const bySlug = categories.find(({ slug }) => slug === comparable(text));
  const byName = categories.filter(({ name }) => comparable(name) === comparable(text));
  return bySlug ?? (byName.length === 1 ? byName[0] : undefined);
}
