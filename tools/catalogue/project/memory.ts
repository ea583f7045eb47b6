import type { SupabaseClient } from '@supabase/supabase-js';
import type { Tables } from '../shared/fields.ts';
import { readingFailed, upsertRow } from './database.ts';

/** Record of the imports of one folder. */
export type Memory = Omit<Tables['imports']['Row'], 'answers'> & {
  /** Answers about categories: slugs by folder, null for no category. */
  answers: Record<string, string | null>;
};

/** @throws ImportError */
export async function recall(client: SupabaseClient, source: string): Promise<Memory> {
  const query = client.from('imports').select().eq('source', source).maybeSingle().retry(false);
  const { data } = await query.throwOnError().then(undefined, readingFailed);
  return (data as Memory | null) ?? { source, started_at: null, answers: {}, sheet: false };
}

/** Stores that an import has begun, so that the next one can continue it. @returns its start */
export async function begin(client: SupabaseClient, memory: Memory): Promise<Date> {
  const started_at = memory.started_at ?? new Date().toISOString();
  await upsertRow(client, 'imports', { ...memory, started_at }, 'source');
  return new Date(started_at);
}

/** Stores that an import has finished. The next import asks again about folders without a category. */
export async function finish(client: SupabaseClient, memory: Memory): Promise<void> {
  const answers = Object.fromEntries(Object.entries(memory.answers).filter(([, slug]) => slug !== null));
  await upsertRow(client, 'imports', { ...memory, answers, started_at: null }, 'source');
}
