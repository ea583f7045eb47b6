import type { SupabaseClient } from '@supabase/supabase-js';
import { readingFailed, upsertRow } from './database.ts';

/** What is remembered of the imports of a folder. */
export interface Memory {
  source: string;
  /** When the import began that has not been finished yet. */
  started_at: string | null;
  /** The slugs of the categories that were given to the sounds of its folders, when asked; null for none. */
  answers: Record<string, string | null>;
  /** Whether there was a sheet the last time. */
  sheet: boolean;
}

/** @throws ImportError */
export async function recall(client: SupabaseClient, source: string): Promise<Memory> {
  const query = client.from('imports').select().eq('source', source).maybeSingle().retry(false);
  const { data } = await query.throwOnError().then(undefined, readingFailed);
  return (data as Memory | null) ?? { source, started_at: null, answers: {}, sheet: false };
}

/** Remembers that an import has begun, so that the next one goes on with it. @returns since when it runs */
export async function begin(client: SupabaseClient, memory: Memory): Promise<Date> {
  const started_at = memory.started_at ?? new Date().toISOString();
  await upsertRow(client, 'imports', { ...memory, started_at }, 'source');
  return new Date(started_at);
}

/** Remembers that an import is finished. Where the answer was no category, the next one asks again. */
export async function finish(client: SupabaseClient, memory: Memory): Promise<void> {
  const answers = Object.fromEntries(Object.entries(memory.answers).filter(([, slug]) => slug !== null));
  await upsertRow(client, 'imports', { ...memory, answers, started_at: null }, 'source');
}
