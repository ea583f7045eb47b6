import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from '@sounds-service/local-supabase/api';
import { localKeys } from '@sounds-service/local-supabase/keys';
import postgres from 'postgres';
import { onTestFinished } from 'vitest';
import { startDatabase } from '../../../test/support/prepared.ts';

/** Starts a project for one test. By default it is on PostgreSQL 17 and has only the migrations. */
export async function startEmptyProject(...releaseAndState: Parameters<typeof startDatabase>) {
  const { databaseUrl, stop: stopDatabase } = await startDatabase(...releaseAndState);
  const storageDir = await mkdtemp(join(tmpdir(), 'sounds-service-project-'));
  const { url, stop } = await startApi({ databaseUrl, storageDir, port: 0 });
  const sql = postgres(databaseUrl, { max: 2, onnotice() {} });
  onTestFinished(async () => {
    await sql.end();
    await stop();
    await stopDatabase();
    await rm(storageDir, { recursive: true });
  });
  return { apiUrl: url, databaseUrl, ...localKeys, sql };
}

export type EmptyProject = Awaited<ReturnType<typeof startEmptyProject>>;

/** Returns the rows that an export contains, with the types and checksums of the files. */
export const catalogueOf = async ({ sql }: EmptyProject) =>
  await sql`
  select to_jsonb(sounds) - 'updated_at' as row, jsonb_agg(
      jsonb_build_array(objects.name, metadata ->> 'mimetype', metadata ->> 'eTag') order by bucket_id) as files
    from public.sounds left join storage.objects on (bucket_id, objects.name) in
      (('audio', audio_path), ('covers', cover_image_path)) group by sounds.id
  union all select to_jsonb(categories) - '{created_at,updated_at}'::text[], null from public.categories
  union all select to_jsonb(sections) - '{created_at,updated_at}'::text[], (
      select jsonb_agg(sound_id order by position) from public.home_section_sounds where section_id = sections.id)
    from public.home_sections as sections
  order by row`;
