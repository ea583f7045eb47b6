import postgres from 'postgres';
import { describe, expect } from 'vitest';
import { addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { fixture } from '../support/fixture.ts';
import { startDatabase } from '../support/prepared.ts';
import { test as base, type Sql } from '../support/test.ts';

const test = base.extend<{ $file: { scratch: Sql } }>({
  /** A database of this file's own, whose catalogue may be emptied and locked. */
  scratch: [
    fixture(async (use) => {
      const { databaseUrl, stop } = await startDatabase();
      // Ends an import that takes far too long, so that the test fails soon.
      const connection = { statement_timeout: 120_000 };
      const sql = postgres(databaseUrl, { max: 1, connection, onnotice() {} });
      await use(sql);
      await sql.end();
      await stop();
    }),
    { scope: 'file' },
  ],
});

const MOMENT = '2001-02-03T04:05:06Z';

/** Imports 5,000 sounds in one statement, with so many distinct moments a minute apart; returns milliseconds. */
async function importTime(sql: Sql, moments: number, table = 'public.sounds'): Promise<number> {
  const started = performance.now();
  await sql`
    insert into ${sql(table)} (title, created_at)
    select 'Import', ${MOMENT}::timestamptz + n % ${moments} * interval '1 minute' from generate_series(1, 5000) as n`;
  return performance.now() - started;
}

/** The same into a table with the same columns, constraints and indexes, but without triggers. */
async function plainImportTime(sql: Sql): Promise<number> {
  await sql`drop table if exists plain_sounds`;
  await sql`create temporary table plain_sounds (like public.sounds including all)`;
  return importTime(sql, 5000, 'plain_sounds');
}

describe('importing 5,000 sounds takes at most a small multiple of an import without triggers', () => {
  for (const [size, rows] of [
    ['an empty', 0],
    ['a small', 40],
    ['a large', 20_000],
  ] as const) {
    for (const [moments, factor] of [
      [1, 20],
      [2, 20],
      [50, 60],
    ] as const) {
      // Other programs may slow down one of the two imports that are compared, but hardly three times.
      test(`into ${size} catalogue, with ${moments} distinct created_at`, { retry: 2 }, async ({
        scratch: sql,
      }) => {
        await sql`truncate public.sounds cascade`;
        await sql`truncate private.former_positions`;
        await sql`
          insert into public.sounds (title, created_at)
          select 'Before', timestamptz '2010-01-01' + n * interval '1 minute' from generate_series(1, ${rows}) as n`;
        // The planner now knows how small the table is, and the session plans anew.
        await sql`vacuum analyze public.sounds`;
        await sql`discard plans`;
        const plain = await plainImportTime(sql);
        expect(await importTime(sql, moments)).toBeLessThan(plain * factor);
        const [spans] = await sql`
          select count(*) as moments, sum(span) as span from (
            select max(created_at) - min(created_at) as span
            from public.sounds where title = 'Import' group by date_trunc('minute', created_at)
          ) as each_moment`;
        const milliseconds = 5000 - moments;
        expect(spans).toEqual({
          moments: String(moments),
          span: `00:00:0${(milliseconds / 1000).toFixed(3).replace(/\.?0+$/, '')}`,
        });
      });
    }
  }
});

describe('created_at of a sound', () => {
  test('the created_at of a deleted sound is not used again', async ({ sql }) => {
    const moment = newMoment();
    const created_at = moment.toISOString();
    const gone = await addSound(sql, { created_at });
    await sql`delete from public.sounds where id = ${gone}`;
    const next = await addSound(sql, { created_at });
    const [row] = await sql`select created_at from public.sounds where id = ${next}`;
    expect(row?.['created_at'].getTime()).toBe(moment.getTime() + 1);
  });

  test('set to a taken moment by an admin becomes the next free millisecond', async ({ sql }) => {
    const [moment, elsewhere] = [newMoment(), newMoment()];
    const [, moved] = await addSounds(sql, [
      { created_at: moment.toISOString() },
      { created_at: elsewhere.toISOString() },
    ]);
    await sql`update public.sounds set created_at = ${moment} where id = ${moved ?? null}`;
    const [row] = await sql`select created_at from public.sounds where id = ${moved ?? null}`;
    expect(row?.['created_at'].getTime()).toBe(moment.getTime() + 1);
  });
});
