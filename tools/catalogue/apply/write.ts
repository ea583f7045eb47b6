import type { SupabaseClient } from '@supabase/supabase-js';
import type { Imported, Row } from '../project/catalogue.ts';
import { writingFailed } from '../project/database.ts';
import type { Fields } from '../shared/fields.ts';
import { Rejected } from '../shared/problems.ts';

/** Makes the row of a new sound. One that is there already is left as it is: it was made by a request whose answer got lost. */
export async function insertSound(
  client: SupabaseClient,
  row: Fields & { id: string; created_at: string },
): Promise<void> {
  const query = client.from('sounds').upsert(row, { onConflict: 'id', ignoreDuplicates: true });
  await query.throwOnError().then(undefined, writingFailed);
}

/**
 * Writes fields of a sound as it was read.
 * @throws Rejected when somebody has changed it since
 */
export async function updateSound(
  client: SupabaseClient,
  { id, updated_at }: Row,
  fields: Fields,
): Promise<void> {
  const query = client.from('sounds').update(fields).eq('id', id).eq('updated_at', updated_at).select('id');
  const { data } = await query.throwOnError().then(undefined, writingFailed);
  if (data.length === 0)
    throw new Rejected('It was changed in the dashboard during the import. Run the import again.');
}

/** Remembers what an import wrote, for the next. */
export async function remember(client: SupabaseClient, imported: Imported): Promise<void> {
  const query = client.from('imported_sounds').upsert(imported, { onConflict: 'sound_id' });
  await query.throwOnError().then(undefined, writingFailed);
}
