import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startDatabase } from '../support/prepared.ts';

test('fifty concurrent first visits wait for no catalogue lock and leave the upkeep to its job', async () => {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 51, onnotice() {} });
  const users = Array.from({ length: 50 }, () => randomUUID());
  const visit = (user: string) =>
    sql.begin(async (transaction) => {
      await transaction`set local lock_timeout = '5s'`;
      await transaction`select set_config('request.jwt.claims', ${JSON.stringify({ sub: user })}, true)`;
      const [row] = await transaction`select public.touch_last_seen() as seen`;
      return row?.['seen'];
    });
  try {
    const [sound] = await sql`insert into public.sounds (title) values ('A sound') returning id`;
    await sql`insert into public.play_counts values (${sound?.['id']}, 5)`;
    await sql`insert into auth.users (id, email) select id, id || '@example.com' from unnest(${users}::uuid[]) as id`;
    await sql`
      insert into private.play_receipts (user_id, key, sound_id, received_at)
      values (${users[0] ?? ''}, 'old', ${sound?.['id']}, now() - interval '40 days')`;
    await sql.begin(async (writer) => {
      await writer`update public.sounds set title = 'Another title'`;
      expect(await Promise.all(users.map(visit))).toEqual(users.map(() => true));
    });
    expect(await sql`select visitors::int from private.visitors_by_day`).toEqual([{ visitors: 50 }]);
    expect(await sql`select from private.play_receipts`).toHaveLength(1);
    expect(await sql`select from private.popularity`).toHaveLength(0);
    await sql`select private.upkeep()`;
    expect(await sql`select from private.play_receipts`).toHaveLength(0);
    expect(await sql`select plays::int from private.popularity`).toEqual([{ plays: 5 }]);
  } finally {
    await sql.end();
    await stop();
  }
});
