import type { SupabaseClient } from '@supabase/supabase-js';
import { allRows, readingFailed } from './catalogue.ts';
import { Rejected } from './problems.ts';
import { upsertRow, writingFailed } from './write.ts';

/** A section of the home page, with the ids of the sounds that were picked for it, in their order. */
export interface Section {
  id: string;
  slug: string;
  title: string;
  mode: 'manual' | 'rule';
  rule_type: 'category' | 'featured' | 'newest' | null;
  rule_value: string | null;
  rule_include_children: boolean;
  item_limit: number;
  sort_order: number;
  is_active: boolean;
  created_at: string;
  sounds: string[];
}

interface Pick {
  section_id: string;
  sound_id: string;
  position: number;
}

/** @throws ImportError */
export async function readSections(client: SupabaseClient): Promise<Section[]> {
  const sections = await allRows<Omit<Section, 'sounds'>>(client, 'home_sections', 'id');
  return await Promise.all(
    sections.map(async (section) => ({ ...section, sounds: await picksOf(client, section.id) })),
  );
}

const PAGE = 1000;

async function picksOf(client: SupabaseClient, section: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const picks = client.from('home_section_sounds').select().eq('section_id', section).order('position');
    const page = picks.range(ids.length, ids.length + PAGE - 1).retry(false);
    const { data } = await page.throwOnError().then(undefined, readingFailed);
    ids.push(...(data as Pick[]).map(({ sound_id }) => sound_id));
    if (data.length < PAGE) return ids;
  }
}

/** Between two picks, so that one more fits. */
const GAP = 10;

/**
 * Writes a section, and its picks in the place of those that it has.
 * @throws Rejected when a pick is of no sound
 */
export async function writeSection(
  client: SupabaseClient,
  { sounds, ...section }: Section,
  idOf: (key: string) => string | undefined,
): Promise<void> {
  const picks = sounds.map((key, index): Pick => {
    const sound_id = idOf(key);
    if (!sound_id)
      throw new Rejected(`No sound has the key "${key}". Correct it, or take it out of the section.`);
    return { section_id: section.id, sound_id, position: (index + 1) * GAP };
  });
  await upsertRow(client, 'home_sections', section, 'id');
  const old = client.from('home_section_sounds').delete().eq('section_id', section.id);
  await old.throwOnError().then(undefined, writingFailed);
  if (picks.length === 0) return;
  await client.from('home_section_sounds').insert(picks).throwOnError().then(undefined, writingFailed);
}
