import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { deleteForGood } from '../support/catalogue.ts';
import { startDatabase } from '../support/prepared.ts';

/** Opens a database whose catalogue can be deleted. */
async function ownDatabase() {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  onTestFinished(async () => {
    await sql.end();
    await stop();
  });
  return sql;
}

const moment = '2001-02-03T04:05:06Z';

// If each of n equal values were moved separately, this would take n²/2 scans of each of two tables: 500 for each row.
test('an import of 500 sounds with one created_at makes them unique in 5 scans per row', async () => {
  const sql = await ownDatabase();
  await sql`
        insert into public.sounds (title, created_at)
        select 'Before', timestamptz '2010-01-01' + n * interval '1 minute' from generate_series(1, 40) as n`;
  // Statistics of the small table must not mislead the planner.
  await sql`vacuum analyze public.sounds`;
  const [scans] = await sql.begin(async (transaction) => {
    await transaction`
          insert into public.sounds (title, created_at)
          select 'Import', ${moment} from generate_series(1, 500)`;
    return transaction`
          select sum(idx_scan)::int as of_indexes, sum(seq_tup_read)::int as rows_without_index
          from pg_stat_xact_user_tables where relname in ('sounds', 'former_positions')`;
  });
  expect(scans?.['of_indexes'] / 500).toBeLessThan(5);
  expect(scans?.['rows_without_index'] / 500).toBeLessThan(1);
  const [span] = await sql`
        select count(*)::int as sounds, extract(epoch from max(created_at) - min(created_at))::float as seconds
        from public.sounds where title = 'Import'`;
  expect(span).toEqual({ sounds: 500, seconds: 0.499 });
});

test('an upsert that repeats the created_at of a sound does not move it', async () => {
  const sql = await ownDatabase();
  const upsert = (rows: object[]) => sql`
    insert into public.sounds ${sql(rows)}
    on conflict (id) do update set title = excluded.title, created_at = excluded.created_at`;
  const times = Array.from({ length: 60 }, (_, n) => new Date(Date.parse(moment) + n).toISOString());
  const rows = times.map((created_at) => ({ id: randomUUID(), title: 'x', created_at }));
  for (let run = 0; run < 3; run++) await upsert(rows);
  const stored = () => sql`select created_at from public.sounds order by created_at`;
  expect((await stored()).map(({ created_at }) => created_at.toISOString())).toEqual(times);
  // The new sound comes first, so the transaction remembers the times of the other rows as taken. They must not move.
  await upsert([{ id: randomUUID(), title: 'x', created_at: moment }, ...rows]);
  expect((await stored()).map(({ created_at }) => created_at.toISOString()).slice(0, 60)).toEqual(times);
  // A sound that is set to the time of another one is still moved.
  await upsert([{ ...rows[0], created_at: times[1] }]);
  expect(new Set((await stored()).map(({ created_at }) => created_at.toISOString())).size).toBe(61);
});

test('a used created_at moves to the next free millisecond, also if a deleted sound had it', async () => {
  const sql = await ownDatabase();
  const add = async (created_at: string) => {
    const [row] = await sql`insert into public.sounds (title, created_at) values ('x', ${created_at}) returning *`;
    return { id: row?.['id'], after: row?.['created_at'] - Date.parse(moment) };
  };
  const first = await add(moment);
  expect([first.after, (await add(moment)).after]).toEqual([0, 1]);
  await deleteForGood(sql, [first.id]);
  const moved = await add('2020-01-01T00:00:00Z');
  await sql`update public.sounds set created_at = ${moment} where id = ${moved.id}`;
  const [row] = await sql`select created_at from public.sounds where id = ${moved.id}`;
  expect(row?.['created_at'] - Date.parse(moment)).toBe(2);
});
