import type { SupabaseClient } from '@supabase/supabase-js';
import { type Category, type Fields, isInTrash, type Row, type Section, type Tables } from '../shared/fields.ts';
import type { BucketLimits } from '../shared/local-file.ts';
import { allRows, readingFailed, upsertRow } from './database.ts';
import { type Measurements, readMeasurements } from './measurements.ts';
import { limitsOf } from './storage.ts';

export interface Place {
  /** Name of the folder. */
  source: string;
  file?: string;
  key?: string;
}

/** Record of a sound that an import wrote. */
export interface Imported {
  sound_id: string;
  /** At most one place for each source. */
  places: Place[];
  checksum: string | null;
  /** Fields that the last import wrote. */
  fields: Fields;
  /** Fields that a sheet has set. */
  said: Fields;
}

/** Returns an empty record, for a sound that no import has written. */
export const newRecord = (sound_id: string): Imported => {
  return { sound_id, places: [], checksum: null, fields: {}, said: {} };
};

/** Contents of the project before the import. */
export interface Catalogue {
  /** Sounds by id. */
  sounds: Map<string, Row>;
  /** Records by the id of the sound. */
  imported: Map<string, Imported>;
  measurements: Measurements;
  categories: Category[];
  limits: { audio: BucketLimits; covers: BucketLimits };
}

/**
 * Reads the catalogue.
 * @param isDryRun true if new measurements are not stored
 * @throws ImportError if migrations or buckets are missing
 */
export async function readCatalogue(client: SupabaseClient, isDryRun = false): Promise<Catalogue> {
  const imported = (await allRows(client, 'imported_sounds', 'sound_id')) as unknown[] as Imported[];
  const sounds = await allRows(client, 'sounds', 'id');
  return {
    sounds: new Map(sounds.map((row) => [row.id, row])),
    imported: new Map(imported.map((row) => [row.sound_id, row])),
    measurements: await readMeasurements(client, !isDryRun),
    categories: await allRows(client, 'categories', 'id'),
    limits: { audio: await limitsOf(client, 'audio'), covers: await limitsOf(client, 'covers') },
  };
}

/**
 * Reads the home sections, without their picks of sounds in the trash.
 * @param sounds all sounds, by id
 * @throws ImportError
 */
export async function readSections(client: SupabaseClient, sounds: Catalogue['sounds']): Promise<Section[]> {
  const sections = await allRows(client, 'home_sections', 'id');
  return await Promise.all(
    sections.map(async (section) => {
      const picks = await allRows(client, 'home_section_sounds', 'sound_id', { section_id: section.id });
      const kept = picks.filter(({ sound_id }) => !isInTrash(sounds.get(sound_id)));
      return { ...section, sounds: kept.sort((a, b) => a.position - b.position).map(({ sound_id }) => sound_id) };
    }),
  );
}

/** Normalizes case and Unicode form, to compare names. */
export const comparable = (text: string) => text.trim().normalize('NFC').toLowerCase();

/** Finds a category by its slug, or by its name if only one has that name. */
export function findCategory<T extends Pick<Category, 'slug' | 'name'>>(text: string, categories: T[]): T | undefined {
  const bySlug = categories.find(({ slug }) => slug === comparable(text));
  const byName = categories.filter(({ name }) => comparable(name) === comparable(text));
  return bySlug ?? (byName.length === 1 ? byName[0] : undefined);
}

/** Record of the imports of one folder. */
export type Memory = Tables['imports']['Row'];

/** Returns the record of earlier imports of a folder, or a new one. @throws ImportError */
export async function recall(client: SupabaseClient, source: string): Promise<Memory> {
  const query = client.from('imports').select().eq('source', source).maybeSingle().retry(false);
  const { data } = await query.throwOnError().then(undefined, readingFailed);
  return data ?? { source, started_at: null, sheet: false };
}

/** Stores that an import has begun, so that the next one can continue it. @returns its start */
export async function begin(client: SupabaseClient, memory: Memory): Promise<Date> {
  const started_at = memory.started_at ?? new Date().toISOString();
  await upsertRow(client, 'imports', { ...memory, started_at }, 'source');
  return new Date(started_at);
}

/** Stores that an import has finished. */
export async function finish(client: SupabaseClient, memory: Memory): Promise<void> {
  await upsertRow(client, 'imports', { ...memory, started_at: null }, 'source');
}
