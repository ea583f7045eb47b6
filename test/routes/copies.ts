import { randomInt, randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect } from 'vitest';
import type { Sql } from '../support/test.ts';

type Thing = { id: string } & Record<string, unknown>;
type Change = { kind: 'sound' | 'category' | 'home_section'; id: string } & Record<
  string,
  Thing | null | string
>;
type Answer = { data: Change[]; next: string; has_more: boolean; reset: boolean };

/** A copy of the catalogue, kept as the document says. */
class Copy {
  things = new Map<string, Thing>();
  since: string | undefined;

  /** @returns whether there is more */
  async read(sql: Sql): Promise<boolean> {
    const filters = JSON.stringify({ since: this.since });
    const [row] = await sql<
      { answer: Answer }[]
    >`select public.list_catalogue_changes(${filters}::jsonb) as answer`;
    const { data, next, has_more, reset } = (row as { answer: Answer }).answer;
    if (reset) this.things.clear();
    for (const change of data) {
      const thing = change[change.kind] as Thing | null;
      if (thing === null) this.things.delete(change.id);
      else this.things.set(change.id, thing);
    }
    this.since = next;
    return has_more;
  }
}

const pick = <T>(choices: readonly T[]): T => choices[randomInt(choices.length)] as T;

/** Writes of administrators and imports, one statement each. */
const writes: ((sql: Sql | postgres.TransactionSql) => Promise<unknown>)[] = [
  (sql) => sql`insert into public.sounds (title, is_featured, category)
    select ${randomUUID()}, random() < 0.5, (select slug from public.categories order by random() limit 1)
    from generate_series(1, ${randomInt(1, 4)})`,
  (sql) => sql`update public.sounds set title = ${randomUUID()}, sort_order = ${randomInt(5)}
    where id in (select id from public.sounds order by random() limit ${randomInt(1, 4)})`,
  (sql) => sql`update public.sounds set is_active = not is_active
    where id in (select id from public.sounds order by random() limit ${randomInt(1, 3)})`,
  (sql) =>
    sql`delete from public.sounds where id in (select id from public.sounds order by random() limit 1)`,
  (sql) => sql`insert into public.categories (slug, name) values (${`c-${randomUUID()}`}, 'A category')`,
  (sql) => sql`update public.categories set slug = ${`c-${randomUUID()}`}, is_active = random() < 0.7
    where id in (select id from public.categories order by random() limit 1)`,
  (sql) => sql`update public.categories set parent_id = (
      select id from public.categories as parent where parent_id is null and parent.id <> child.id order by random() limit 1)
    from (select id from public.categories as one where not exists (select from public.categories where parent_id = one.id)
      order by random() limit 1) as child where categories.id = child.id`,
  (sql) => sql`insert into public.home_sections (slug, title, mode, rule_type)
    values (${`s-${randomUUID()}`}, 'A section', 'rule', ${pick(['newest', 'featured'])})`,
  (sql) => sql`with section as (
      insert into public.home_sections (slug, title) values (${`s-${randomUUID()}`}, 'A section') returning id
    )
    insert into public.home_section_sounds (section_id, sound_id, position)
    select section.id, sound.id, row_number() over () from section, (select id from public.sounds limit 3) as sound`,
  (sql) =>
    sql`delete from public.home_sections where id in (select id from public.home_sections order by random() limit 1)`,
  (
    sql,
  ) => sql`update public.sounds set audio_path = (select name from storage.objects order by random() limit 1)
    where id in (select id from public.sounds order by random() limit 1)`,
];

/** "Delete all rows" in the dashboard; seldom, so that there are rows for the other writes. */
const truncates: ((sql: Sql | postgres.TransactionSql) => Promise<unknown>)[] = [
  (sql) => sql`truncate public.sounds cascade`,
  (sql) => sql`truncate public.categories cascade`,
  (sql) => sql`truncate public.home_sections cascade`,
  (sql) => sql`truncate public.home_section_sounds`,
];

/** Writes of Storage when a file is put, moved or removed, one transaction each. */
const puts: typeof truncates = [
  (sql) => sql`insert into storage.objects (bucket_id, name, metadata)
    values ('audio', ${`${randomUUID()}.mp3`}, ${sql.json({ eTag: randomUUID() })})`,
  (sql) => sql`update storage.objects set metadata = ${sql.json({ eTag: randomUUID() })}
    where id in (select id from storage.objects order by random() limit 1)`,
  (
    sql,
  ) => sql`update storage.objects set bucket_id = case bucket_id when 'audio' then 'covers' else 'audio' end
    where id in (select id from storage.objects order by random() limit 1)`,
  (sql) => sql`update storage.objects set name = ${`${randomUUID()}.mp3`}
    where id in (select id from storage.objects order by random() limit 1)`,
];

const isDeadlock = (error: unknown) => error instanceof postgres.PostgresError && error.code === '40P01';

/** A transaction of some writes, which now and then takes its time, or is rolled back. */
function write(sql: Sql): Promise<unknown> {
  const rollback = new Error('rolled back');
  const isPut = randomInt(5) === 0;
  return sql
    .begin(async (transaction) => {
      if (isPut) return void (await pick(puts)(transaction));
      for (let statements = randomInt(1, 4); statements > 0; statements--)
        await pick(randomInt(60) === 0 ? truncates : writes)(transaction);
      if (randomInt(4) === 0) await transaction`select pg_sleep(${randomInt(4) / 1000})`;
      if (randomInt(6) === 0) throw rollback;
    })
    .catch((error: Error) => {
      // Rows that another writer has renamed or moved meanwhile break a constraint, and a truncate, which locks its tables
      // before any trigger runs, may end in a deadlock. Both count as rollbacks.
      const breaksConstraint = error instanceof postgres.PostgresError && error.code.startsWith('23');
      if (error !== rollback && !breaksConstraint && !isDeadlock(error)) throw error;
    });
}

/**
 * Lets three writers and two readers run beside each other, and compares the copies with one that begins when all is done, and with
 * the tables; so often.
 */
export async function checkCopies(sql: Sql, databaseUrl: string, rounds: number): Promise<void> {
  const connections = Array.from({ length: 5 }, () => postgres(databaseUrl, { max: 1, onnotice: () => {} }));
  const [first, second, third, ...reading] = connections as [Sql, Sql, Sql, Sql, Sql];
  const copies = reading.map((connection) => ({ connection, copy: new Copy() }));
  try {
    for (let round = 0; round < rounds; round++) {
      const writing = [first, second, third].map(async (connection) => {
        for (let writes = randomInt(1, 4); writes > 0; writes--) await write(connection);
      });
      const reads = copies.map(async ({ connection, copy }) => {
        if (randomInt(20) === 0) copy.since = undefined; // begins anew, with what it has
        for (let reads = randomInt(1, 5); reads > 0; reads--)
          await copy.read(connection).catch((error: unknown) => {
            if (!isDeadlock(error)) throw error; // a truncate may end a read, which the app then repeats
          });
      });
      await Promise.all([...writing, ...reads]);
      const fresh = new Copy();
      for (const copy of [fresh, ...copies.map(({ copy }) => copy)]) while (await copy.read(sql));
      for (const { copy } of copies) expect(inOrder(copy), `round ${round}`).toEqual(inOrder(fresh));
      expect(inOrder(fresh).map(({ id }) => id)).toEqual(await idsOfCatalogue(sql));
    }
  } finally {
    await Promise.all(connections.map((connection) => connection.end()));
  }
}

const inOrder = ({ things }: Copy) => [...things.values()].sort((a, b) => (a.id < b.id ? -1 : 1));

async function idsOfCatalogue(sql: Sql): Promise<string[]> {
  const rows = await sql`
    select id::text from public.sounds where is_active
    union all select id::text from public.home_sections where is_active
    union all select child.id::text from public.categories as child left join public.categories as parent on parent.id = child.parent_id
      where child.is_active and coalesce(parent.is_active, true)
    order by 1`;
  return rows.map((row) => row['id']);
}
