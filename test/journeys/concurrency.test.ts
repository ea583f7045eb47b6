import postgres from 'postgres';
import { expect, inject, onTestFinished } from 'vitest';
import { addCategory, addSound } from '../support/catalogue.ts';
import { type Session, type Sql, test } from '../support/test.ts';

/** Opens connections beside the shared ones; they end with the test. */
async function connect(count: number): Promise<Sql[]> {
  const { databaseUrl } = inject('stack');
  const connections = Array.from({ length: count }, () => postgres(databaseUrl, { max: 1, onnotice() {} }));
  onTestFinished(async () => {
    await Promise.all(connections.map((sql) => sql.end()));
  });
  await Promise.all(connections.map((sql) => sql`select`));
  return connections;
}

test('2,000 plays over 50 connections all count, each with its own number', async ({ sql, user }) => {
  const id = await addSound(sql);
  const connections = await connect(50);
  const counts = await Promise.all(
    connections.map(async (connection) => {
      const told: number[] = [];
      for (let play = 0; play < 40; play++) {
        const [row] = await connection`
          select (public.count_play(${id}, ${user.user.id}) ->> 'play_count')::integer as count`;
        told.push(row?.['count']);
      }
      return told;
    }),
  );
  expect(counts.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, index) => index + 1));
  expect(await sql`select plays from public.play_counts where sound_id = ${id}`).toEqual([{ plays: '2000' }]);
});

/** Adds a favorite as the data API does for the user; returns whether the sound was there. */
const addFavorite = (connection: Sql, { user }: Session, sound: string): Promise<boolean> =>
  connection.begin(async (transaction) => {
    const claims = JSON.stringify({ sub: user.id, role: 'authenticated' });
    await transaction`select set_config('request.jwt.claims', ${claims}, true), set_config('role', 'authenticated', true)`;
    const [row] = await transaction`select public.add_favorite(${sound}) as added`;
    return row?.['added'];
  });

test('adding a favorite while its sound is deactivated and activated never fails', async ({ sql, user }) => {
  const id = await addSound(sql);
  const connections = await connect(3);
  const traffic = { on: true };
  const toggling = (async () => {
    while (traffic.on) await sql`update public.sounds set is_active = not is_active where id = ${id}`;
  })();
  const answers = await Promise.all(
    connections.map(async (connection) => {
      const told: boolean[] = [];
      for (let turn = 0; turn < 300; turn++) told.push(await addFavorite(connection, user, id));
      return told;
    }),
  ).finally(() => {
    traffic.on = false;
  });
  await toggling;
  expect(new Set(answers.flat())).toEqual(new Set([true, false]));
});

test('imports with equal created_at over 10 connections all succeed with unique values', async ({ sql }) => {
  const category = await addCategory(sql);
  const connections = await connect(10);
  const moments = sql`timestamptz '2002-02-03T04:05:06Z' + (n % 3) * interval '1 millisecond'`;
  await Promise.all(
    connections.map((connection) =>
      connection.begin(async (transaction) => {
        const insert = () => transaction`
          insert into public.sounds (title, category, created_at)
          select 'Import', ${category}, ${moments} from generate_series(1, 60) as n returning id`;
        const [first] = await insert();
        await transaction`delete from public.sounds where id = ${first?.['id']}`;
        const [, second] = await insert();
        await transaction`update public.sounds set created_at = '2002-02-03T04:05:06Z' where id = ${second?.['id']}`;
      }),
    ),
  );
  const [row] = await sql`
    select count(*)::integer as sounds, count(distinct created_at)::integer as moments
    from public.sounds where category = ${category}`;
  expect(row).toEqual({ sounds: 10 * 119, moments: 10 * 119 });
});
