import type { SupabaseClient } from '@supabase/supabase-js';
import type { Part } from '../plan/structure.ts';
import { upsertRow, writingFailed } from '../project/database.ts';
import type { Section } from '../project/sections.ts';
import { asRejected, ImportError, type Problem, Rejected } from '../shared/problems.ts';

/**
 * Writes the categories and home sections that change.
 * @param idOf returns the id of the sound with a key
 * @returns the parts that the database rejected
 * @throws ImportError if the import cannot continue
 */
export async function writeParts(
  client: SupabaseClient,
  parts: Part[],
  idOf: (key: string) => string | undefined,
): Promise<Problem[]> {
  const rejected: Problem[] = [];
  for (const part of parts) {
    if (part.action !== 'create' && part.action !== 'update') continue;
    const writing =
      'category' in part
        ? upsertRow(client, 'categories', part.category, 'id')
        : writeSection(client, part.section, idOf);
    await writing.catch((error: unknown) => {
      if (error instanceof ImportError) throw error;
      rejected.push({ where: part.where, reason: asRejected(error).message });
    });
  }
  return rejected;
}

/** Distance between the positions of two sounds, so that an admin can insert others between them. */
const GAP = 10;

/**
 * Writes a home section and replaces its sounds.
 * @throws Rejected if no sound has one of the keys
 */
async function writeSection(
  client: SupabaseClient,
  { sounds, ...section }: Section,
  idOf: (key: string) => string | undefined,
): Promise<void> {
  const picks = sounds.map((key, index) => {
    const sound_id = idOf(key);
    if (!sound_id) throw new Rejected(`No sound has the key "${key}". Correct it, or take it out of the section.`);
    return { section_id: section.id, sound_id, position: (index + 1) * GAP };
  });
  await upsertRow(client, 'home_sections', section, 'id');
  const old = client.from('home_section_sounds').delete().eq('section_id', section.id);
  await old.throwOnError().then(undefined, writingFailed);
  if (picks.length === 0) return;
  await client.from('home_section_sounds').insert(picks).throwOnError().then(undefined, writingFailed);
}
