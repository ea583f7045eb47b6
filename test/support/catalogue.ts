import { randomInt, randomUUID } from 'node:crypto';
import type { TransactionSql } from 'postgres';
import type { Database } from '../../src/supabase/database.types.ts';
import type { Sql } from './test.ts';

type SoundRow = Partial<Database['public']['Tables']['sounds']['Insert']>;

/** Returns a unique slug, so that lists filtered by it contain only sounds of this test. */
export const newSlug = (prefix = 'test') => `${prefix}-${randomUUID().slice(0, 13)}`;

/** Returns a random time of the past in full seconds, so that tests on the same database do not collide. */
export const newMoment = () => new Date(randomInt(1_500_000_000) * 1000);

/** Adds a category. Returns its slug. */
export async function addCategory(
  sql: Sql,
  { parent = null as string | null, is_active = true, slug = newSlug() } = {},
) {
  await sql`
    insert into public.categories (slug, name, is_active, parent_id)
    values (${slug}, ${`Category ${slug}`}, ${is_active}, (select id from public.categories where slug = ${parent}))`;
  return slug;
}

/**
 * Adds sounds in one statement. Returns their ids in the same order. Ten or more get one random time, which the
 * database moves to the next milliseconds, so that they do not collide with an import in another test.
 */
export async function addSounds(sql: Sql, rows: SoundRow[]): Promise<string[]> {
  const moment = rows.length < 10 ? {} : { created_at: newMoment().toISOString() };
  const withIds = rows.map((row) => ({ id: randomUUID(), title: 'A sound', ...moment, ...row }));
  // Group by columns, because the insert helper of the driver reads them from the first row.
  const groups = Map.groupBy(withIds, (row) => Object.keys(row).sort().join());
  for (const group of groups.values()) await sql`insert into public.sounds ${sql(group)}`;
  return withIds.map(({ id }) => id);
}

const none = { category: null, cover_image_url: null, duration_sec: null, cover_placeholder: null };
/** Preview of a sound that has only a title. */
export const barePreview = { ...none, is_premium: false };

/** Adds one sound. Returns its id. */
export async function addSound(sql: Sql, row: SoundRow = {}): Promise<string> {
  const [id] = await addSounds(sql, [row]);
  return id as string;
}

/** Adds a section of the home page. Returns its slug. */
export async function addSection(sql: Sql, fields: Record<string, unknown>): Promise<string> {
  const slug = newSlug('section');
  await sql`insert into public.home_sections ${sql({ slug, title: `Section ${slug}`, ...fields })}`;
  return slug;
}

/** Deletes sounds permanently, without the trash. */
export async function deleteForGood(sql: Sql | TransactionSql, ids: (string | null)[]): Promise<void> {
  await sql`delete from public.sounds where id = any (${ids}::uuid[])`;
  await sql`select private.delete_from_trash('sounds', ${ids}::uuid[])`;
}
