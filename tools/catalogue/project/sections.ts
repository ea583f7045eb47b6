import type { SupabaseClient } from '@supabase/supabase-js';
import { allRows, readingFailed } from './database.ts';

/** A section of the home page, with the ids of its sounds in their order. */
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
    ids.push(...(data as { sound_id: string }[]).map(({ sound_id }) => sound_id));
    if (data.length < PAGE) return ids;
  }
}
