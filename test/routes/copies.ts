import { randomInt } from 'node:crypto';
import postgres from 'postgres';
import { expect } from 'vitest';
import type { Sql } from '../support/test.ts';

interface Row {
  [field: string]: unknown;
}
interface Change {
  kind: 'sound' | 'category' | 'home_section';
  id: string;
  sound: Row | null;
  category: Row | null;
  home_section: Row | null;
}
export interface Changes {
  data: Change[];
  next: string;
  has_more: boolean;
  reset: boolean;
}

export async function listChanges(sql: Sql, since: string | undefined): Promise<Changes> {
  const filters = JSON.stringify({ since });
  const [row] = await sql`select public.list_catalogue_changes(${filters}::jsonb) as answer`;
  return row?.['answer'];
}

/** Makes an empty copy of the catalogue that is updated as the OpenAPI document says. */
function createCopy() {
  const rows = new Map<string, Row>();
  let since: string | undefined;
  return {
    rows,
    /** Forgets the position in the feed, but no row. */
    startAgain() {
      since = undefined;
    },
    /** Applies one page of changes. @returns true if there are more */
    async read(sql: Sql): Promise<boolean> {
      const { data, next, has_more, reset } = await listChanges(sql, since);
      if (reset) rows.clear();
      for (const { kind, id, ...changed } of data) {
        const row = changed[kind];
        if (row === null) rows.delete(id);
        else rows.set(id, row);
      }
      since = next;
      return has_more;
    },
    sorted: () => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  };
}

const pick = (statements: string[]) => statements[randomInt(statements.length)] ?? '';
const some = (table: string, most = 1) => `(select id from ${table} order by random() limit ${1 + randomInt(most)})`;

/** Returns writes of administrators and imports. */
const writes = () => [
  `insert into public.sounds (title, is_featured, category)
    select gen_random_uuid(), random() < 0.5, (select slug from public.categories order by random() limit 1)
    from generate_series(1, ${randomInt(1, 4)})`,
  `update public.sounds set title = gen_random_uuid(), sort_order = 5 * random() where id in ${some('public.sounds', 3)}`,
  `update public.sounds set is_active = not is_active where id in ${some('public.sounds', 2)}`,
  `delete from public.sounds where id in ${some('public.sounds')}`,
  `insert into public.categories (slug, name) values ('c-' || gen_random_uuid(), 'A category')`,
  `update public.categories set slug = 'c-' || gen_random_uuid(), is_active = random() < 0.7
    where id in ${some('public.categories')}`,
  `update public.categories set parent_id = (
      select id from public.categories as parent where parent_id is null and parent.id <> child.id order by random() limit 1)
    from (select id from public.categories as one where not exists (select from public.categories where parent_id = one.id)
      order by random() limit 1) as child where categories.id = child.id`,
  `insert into public.home_sections (slug, title, mode, rule_type)
    values ('s-' || gen_random_uuid(), 'A section', 'rule', case when random() < 0.5 then 'newest' else 'featured' end)`,
  `with section as (
      insert into public.home_sections (slug, title) values ('s-' || gen_random_uuid(), 'A section') returning id
    )
    insert into public.home_section_sounds (section_id, sound_id, position)
    select section.id, sound.id, row_number() over () from section, (select id from public.sounds limit 3) as sound`,
  `delete from public.home_sections where id in ${some('public.home_sections')}`,
  `delete from public.categories where id in ${some('public.categories')}`,
  // Undo one of the last changes, or age the trash, which the upkeep then empties.
  `select admin.undo(change) from (select change from private.edits order by id desc limit 20) as edit order by random() limit 1`,
  `update public.sounds set deleted_at = now() - interval '31 days' where deleted_at is not null`,
  `update public.sounds set audio_path = (select name from storage.objects order by random() limit 1)
    where id in ${some('public.sounds')}`,
];

/** Returns writes of Storage when a file is uploaded, moved or removed. */
const puts = () => [
  `insert into storage.objects (bucket_id, name, metadata)
    values ('audio', gen_random_uuid() || '.mp3', jsonb_build_object('eTag', gen_random_uuid()))`,
  `update storage.objects set metadata = jsonb_build_object('eTag', gen_random_uuid()) where id in ${some('storage.objects')}`,
  `update storage.objects set bucket_id = case bucket_id when 'audio' then 'covers' else 'audio' end
    where id in ${some('storage.objects')}`,
  `update storage.objects set name = gen_random_uuid() || '.mp3' where id in ${some('storage.objects')}`,
];

/** Runs a transaction of random writes. Some transactions are slow, others are rolled back. */
const write = (sql: Sql) =>
  sql
    .begin(async (transaction) => {
      if (randomInt(5) === 0) return void (await transaction.unsafe(pick(puts())));
      for (let statements = randomInt(1, 4); statements > 0; statements--) await transaction.unsafe(pick(writes()));
      if (randomInt(4) === 0) await transaction`select pg_sleep(${randomInt(4) / 1000})`;
      if (randomInt(6) === 0) await transaction`do $$ begin raise using errcode = '23000'; end $$`;
    })
    .catch((error: unknown) => {
      // Ignore a violated constraint, which a rollback or another writer may cause.
      if (!(error instanceof postgres.PostgresError && error.code.startsWith('23'))) throw error;
    });

/**
 * Runs four writers, the upkeep and two readers at the same time in each round. Then compares the copies with a new copy
 * and with the tables.
 */
export async function checkCopies(sql: Sql, databaseUrl: string, rounds: number): Promise<void> {
  const connections = Array.from({ length: 6 }, () => postgres(databaseUrl, { max: 1, onnotice: () => {} }));
  const copies = connections.slice(4).map((connection) => ({ connection, copy: createCopy() }));
  try {
    for (let round = 0; round < rounds; round++) {
      const writing = connections.slice(0, 4).map(async (connection) => {
        for (let count = randomInt(1, 4); count > 0; count--) await write(connection);
      });
      const reading = copies.map(async ({ connection, copy }) => {
        if (randomInt(20) === 0) copy.startAgain();
        for (let count = randomInt(1, 5); count > 0; count--) await copy.read(connection);
      });
      await Promise.all([...writing, sql`select private.upkeep()`, ...reading]);
      const fresh = createCopy();
      for (const copy of [fresh, ...copies.map(({ copy }) => copy)]) while (await copy.read(sql));
      for (const { copy } of copies) expect(copy.sorted(), `round ${round}`).toEqual(fresh.sorted());
      const visible = await sql`
        select id::text from public.sounds where is_active
        union all select id::text from public.home_sections where is_active
        union all select child.id::text from public.categories as child
          left join public.categories as parent on parent.id = child.parent_id
          where child.is_active and coalesce(parent.is_active, true)
        order by 1`;
      expect([...fresh.rows.keys()].toSorted()).toEqual(visible.map(({ id }) => id));
    }
  } finally {
    await Promise.all(connections.map((connection) => connection.end()));
  }
}
