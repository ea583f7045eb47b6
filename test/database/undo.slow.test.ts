import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { addSounds } from '../support/catalogue.ts';
import { startDatabase } from '../support/prepared.ts';
import type { Sql } from '../support/test.ts';

/** Starts a database with 4,000 sounds, on a single connection. */
async function startFilled(): Promise<Sql> {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  onTestFinished(async () => {
    await sql.end();
    await stop();
  });
  await addSounds(sql, Array(4000).fill({ title: 'A sound', description: 'Calm rain on a tin roof', tags: ['rain'] }));
  return sql;
}

const update = 'update public.sounds set sort_order = sort_order + 1';

const newest = async (sql: Sql): Promise<string> =>
  (await sql`select change from admin.recent_edits limit 1`)[0]?.['change'];

/** Returns the time of a statement in milliseconds, the shorter one of two runs. Rolls each back. */
async function msOf(sql: Sql, statement: string, prepare = ''): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 2; run++) {
    await sql.unsafe(`begin; ${prepare}`);
    const start = performance.now();
    await sql.unsafe(statement);
    times.push(performance.now() - start);
    await sql.unsafe('rollback');
  }
  return Math.min(...times);
}

test('noting edits, undoing 4,000 of them and deleting 1,000 sounds take a bounded multiple of an update', async () => {
  const sql = await startFilled();
  const plain = await msOf(sql, update, 'alter table public.sounds disable trigger sounds_note_changed');
  const noted = await msOf(sql, update);
  const deleted = await msOf(sql, 'delete from public.sounds where id in (select id from public.sounds limit 1000)');
  await sql.unsafe(update);
  const undone = await msOf(sql, `select * from admin.undo('${await newest(sql)}')`);
  expect(noted / plain).toBeLessThan(2);
  expect(deleted / noted).toBeLessThan(3);
  expect(undone / noted).toBeLessThan(11);
});

test('an undo of 4,000 rows restores all but the one that was changed later', async () => {
  const sql = await startFilled();
  await sql.unsafe(update);
  const change = await newest(sql);
  await sql`update public.sounds set sort_order = 9, title = 'Later' where id = (select id from public.sounds limit 1)`;
  expect(await sql`select * from admin.undo(${change})`).toEqual([
    { outcome: 'restored', rows: '3999', named: null },
    { outcome: 'changed again: left alone', rows: '1', named: 'sound "Later"' },
  ]);
  expect(await sql`select sort_order, count(*)::int from public.sounds group by 1 order by 1`).toEqual([
    { sort_order: 0, count: 3999 },
    { sort_order: 9, count: 1 },
  ]);
});
