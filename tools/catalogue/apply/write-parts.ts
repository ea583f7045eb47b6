import type { SupabaseClient } from '@supabase/supabase-js';
import { isChanging } from '../plan/plan.ts';
import type { Part } from '../plan/structure.ts';
import { upsertRow, writingFailed } from '../project/database.ts';
import type { Section } from '../shared/fields.ts';
import { asRejected, type Problem, Rejected } from '../shared/problems.ts';
import { isId } from '../shared/sound.ts';

/**
 * Writes the categories and home sections that change.
 * @param ids ids of sounds by their key. Keys that are not in it must be ids themselves
 * @returns the parts that the database rejected
 * @throws ImportError if the import cannot continue
 */
export async function writeParts(client: SupabaseClient, parts: Part[], ids: Map<string, string>): Promise<Problem[]> {
  const rejected: Problem[] = [];
  for (const part of parts.filter(isChanging)) {
    const writing =
      'category' in part
        ? upsertRow(client, 'categories', part.category, 'id')
        : writeSection(client, part.section, ids);
    await writing.catch((error: unknown) => {
      rejected.push({ where: part.where, reason: asRejected(error).message });
    });
  }
  return rejected;
}

/** Distance between the positions of two sounds, so that an admin can insert others between them. */
const gap = 10;

/** Writes a home section and replaces its sounds. @throws Rejected if no sound has one of the keys */
async function writeSection(
  client: SupabaseClient,
  { sounds, ...section }: Section,
  ids: Map<string, string>,
): Promise<void> {
  const picks = sounds.map((key, index) => {
    const sound_id = ids.get(key) ?? key;
    if (!isId(sound_id))
      throw new Rejected(`No sound has the key "${key}". Correct it, or take it out of the section.`);
    return { section_id: section.id, sound_id, position: (index + 1) * gap };
  });
  await upsertRow(client, 'home_sections', section, 'id');
  const old = client.from('home_section_sounds').delete().eq('section_id', section.id);
  await old.throwOnError().then(undefined, writingFailed);
  if (picks.length === 0) return;
  await client.from('home_section_sounds').insert(picks).throwOnError().then(undefined, writingFailed);
}
