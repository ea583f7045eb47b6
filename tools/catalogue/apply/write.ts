import type { SupabaseClient } from '@supabase/supabase-js';
import type { Row } from '../project/catalogue.ts';
import { writingFailed } from '../project/database.ts';
import type { Facts, Fields } from '../shared/fields.ts';
import { Rejected } from '../shared/problems.ts';

/** Inserts a new sound. Keeps an existing row, because an earlier attempt inserted it. */
export async function insertSound(
  client: SupabaseClient,
  row: Fields & Facts & { id: string; created_at: string },
): Promise<void> {
  const query = client.from('sounds').upsert(row, { onConflict: 'id', ignoreDuplicates: true });
  await query.throwOnError().then(undefined, writingFailed);
}

/**
 * Updates fields of a sound.
 * @throws Rejected if the sound has changed since it was read
 */
export async function updateSound(client: SupabaseClient, { id, updated_at }: Row, fields: Fields): Promise<void> {
  const query = client.from('sounds').update(fields).eq('id', id).eq('updated_at', updated_at).select('id');
  const { data } = await query.throwOnError().then(undefined, writingFailed);
  if (data.length === 0) throw new Rejected('It was changed in the dashboard during the import. Run the import again.');
}

/** Writes measurements. Write the names of the files first, because a new name removes the last measurements. */
export async function updateFacts(client: SupabaseClient, id: string, facts: Facts & Fields): Promise<void> {
  await client.from('sounds').update(facts).eq('id', id).throwOnError().then(undefined, writingFailed);
}
