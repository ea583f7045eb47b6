import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { addSounds } from '../support/catalogue.ts';
import { startDatabase } from '../support/prepared.ts';
import type { Sql } from '../support/test.ts';

// Enough rows that an undo which compares each row with all others exceeds its bound.
const rows = 1000;

/** Starts a database with sounds, on a single connection. */
async function startFilled(): Promise<Sql> {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  onTestFinished(async () => {
    await sql.end();
    await stop();
  });
  await addSounds(sql, Array(rows).fill({ title: 'A sound', description: 'Calm rain on a tin roof', tags: ['rain'] }));
  return sql;
}

const update = 'update public.sounds set sort_order = sort_order + 1';

const newest = async (sql: Sql): Promise<string> =>
  (await sql`select change from admin.recent_edits limit 1`)[0]?.['change'];

/** Returns the time of a statement in milliseconds, and rolls it back. */
async function msOf(sql: Sql, statement: string, prepare = ''): Promise<number> {
  await sql.unsafe(`begin; ${prepare}`);
  const start = performance.now();
  await sql.unsafe(statement);
  const ms = performance.now() - start;
  await sql.unsafe('rollback');
  return ms;
}

test('noting and undoing edits of all sounds and deleting a quarter cost a few updates', {
  timeout: 180_000,
}, async () => {
  const sql = await startFilled();
  const disable = 'alter table public.sounds disable trigger sounds_note_changed';
  const remove = `delete from public.sounds where id in (select id from public.sounds limit ${rows / 4})`;
  // Compares the fastest of each, measured in turns, because other tests run at the same time.
  const times = { plain: [] as number[], noted: [] as number[], deleted: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    times.plain.push(await msOf(sql, update, disable));
    times.noted.push(await msOf(sql, update));
    times.deleted.push(await msOf(sql, remove));
  }
  const [plain, noted, deleted] = [Math.min(...times.plain), Math.min(...times.noted), Math.min(...times.deleted)];
  expect(noted / plain).toBeLessThan(2);
  expect(deleted / noted).toBeLessThan(3);

  await sql.unsafe(update);
  const change = await newest(sql);
  await sql`update public.sounds set sort_order = 9, title = 'Later' where id = (select id from public.sounds limit 1)`;
  const undo = `select * from admin.undo('${change}')`;
  const undone = [await msOf(sql, undo), await msOf(sql, undo), await msOf(sql, undo)];
  expect(Math.min(...undone) / plain).toBeLessThan(11);
  expect(await sql.unsafe(undo)).toEqual([
    { outcome: 'restored', rows: String(rows - 1), named: null },
    { outcome: 'changed again: left alone', rows: '1', named: 'sound "Later"' },
  ]);
  expect(await sql`select sort_order, count(*)::int from public.sounds group by 1 order by 1`).toEqual([
    { sort_order: 0, count: rows - 1 },
    { sort_order: 9, count: 1 },
  ]);
});
