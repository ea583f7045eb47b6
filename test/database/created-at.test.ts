import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

/** Opens a database whose catalogue may be emptied. */
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

describe('created_at', () => {
  // Moving each of n equal values by itself would take n²/2 scans of each table: 500 and 100 for a row.
  test.for([
    [1, 5],
    [5, 60],
  ] as const)(
    'an import of 500 sounds with %i moments makes them unique in %i scans a row',
    async ([moments, scansPerRow]) => {
      const sql = await ownDatabase();
      await sql`
        insert into public.sounds (title, created_at)
        select 'Before', timestamptz '2010-01-01' + n * interval '1 minute' from generate_series(1, 40) as n`;
      // The planner now knows how small the table is, which must not mislead it.
      await sql`vacuum analyze public.sounds`;
      const [scans] = await sql.begin(async (transaction) => {
        await transaction`
          insert into public.sounds (title, created_at)
          select 'Import', ${moment}::timestamptz + n % ${moments} * interval '1 minute' from generate_series(1, 500) as n`;
        return transaction`
          select sum(idx_scan)::int as of_indexes, sum(seq_tup_read)::int as rows_without_index
          from pg_stat_xact_user_tables where relname in ('sounds', 'former_positions')`;
      });
      expect(scans?.['of_indexes'] / 500).toBeLessThan(scansPerRow);
      expect(scans?.['rows_without_index'] / 500).toBeLessThan(1);
      const spans = await sql`
        select count(*)::int as sounds, extract(epoch from max(created_at) - min(created_at)) * 1000 as span_ms
        from public.sounds where title = 'Import' group by date_trunc('minute', created_at)`;
      const sounds = 500 / moments;
      expect(spans.map((row) => [row['sounds'], Number(row['span_ms'])])).toEqual(
        Array(moments).fill([sounds, sounds - 1]),
      );
    },
  );

  test('a taken created_at moves to the next free millisecond, also if a deleted sound had it', async () => {
    const sql = await ownDatabase();
    const add = async (created_at: string) => {
      const [row] =
        await sql`insert into public.sounds (title, created_at) values ('x', ${created_at}) returning *`;
      return { id: row?.['id'], after: row?.['created_at'] - Date.parse(moment) };
    };
    const first = await add(moment);
    expect([first.after, (await add(moment)).after]).toEqual([0, 1]);
    await sql`delete from public.sounds where id = ${first.id}`;
    const moved = await add('2020-01-01T00:00:00Z');
    await sql`update public.sounds set created_at = ${moment} where id = ${moved.id}`;
    const [row] = await sql`select created_at from public.sounds where id = ${moved.id}`;
    expect(row?.['created_at'] - Date.parse(moment)).toBe(2);
  });
});
