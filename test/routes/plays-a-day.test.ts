import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { clientWith, issueKey, newUser, type Session, type Sql, test } from '../support/test.ts';

const today = new Date().toISOString().slice(0, 10);
const aDay = 1_000;
const aDayForKeys = 100_000;

/** Makes it a day on which that many receipts of a user have arrived. */
const setReceipts = (sql: Sql, { user }: Session, receipts: number) => sql`
  insert into private.listening_days as day (user_id, day, listened, receipts)
  values (${user.id}, ${today}, false, ${receipts})
  on conflict (user_id, day) do update set receipts = excluded.receipts`;

async function receiptsOf(sql: Sql, { user }: Session) {
  const [row] = await sql`
    select receipts, (select count(*)::int from private.play_receipts where user_id = ${user.id}) as kept
    from private.listening_days where user_id = ${user.id} and day = ${today}`;
  return row;
}

const playsOf = (sound_id: string, count = 1, ageDays = 0) =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    sound_id,
    played_at: new Date(Date.now() - ageDays * 86_400_000).toISOString(),
  }));

async function send(app: Api, plays: ReturnType<typeof playsOf>): Promise<string[]> {
  const { body } = await app.post('/plays').send({ plays }).expect(200);
  return body.data.map(({ status }: { status: string }) => status);
}

async function playOne(app: Api, sound: string, key: string): Promise<number> {
  const request = app.post(`/sounds/${sound}/play`).set('Idempotency-Key', key);
  return (await request.expect(200)).body.data.play_count;
}

describe('beyond 1,000 receipts of a user on a day', () => {
  test('POST /plays counts what fits, and answers over_limit for the rest', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const sound = await addSound(sql);
    const plays = playsOf(sound, 5);
    await setReceipts(sql, user, aDay - 3);
    const answer = ['counted', 'counted', 'counted', 'over_limit', 'over_limit'];
    expect(await send(user.app, plays)).toEqual(answer);
    expect(await send(user.app, plays)).toEqual([...Array(3).fill('duplicate'), ...answer.slice(3)]);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: aDay, kept: 3 });
    for (const table of ['public.play_counts', 'public.history'])
      expect(await sql`select plays::int from ${sql(table)} where sound_id = ${sound}`).toEqual([
        { plays: 3 },
      ]);

    // A play that could not be counted anyway keeps its status.
    const hidden = await addSound(sql, { is_active: false });
    const others = [playsOf(hidden), playsOf(sound, 1, 31), playsOf(sound)].flat();
    expect(await send(user.app, others)).toEqual(['not_found', 'too_old', 'over_limit']);

    // Plays count towards the day on which they arrive.
    expect(await send(user.app, playsOf(sound, 1, 3))).toEqual(['over_limit']);
    await sql`update private.listening_days set day = day - 9 where user_id = ${user.user.id}`;
    expect(await send(user.app, playsOf(sound, 1, 1))).toEqual(['counted']);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: 1, kept: 4 });
  });

  test('a single play counts, but its key is not remembered', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const [sound, early, late] = [await addSound(sql), randomUUID(), randomUUID()];
    await setReceipts(sql, user, aDay - 1);
    for (const [key, count] of [
      [early, 1],
      [early, 1],
      [late, 2],
      [late, 3],
      [early, 3],
    ] as const)
      expect(await playOne(user.app, sound, key)).toBe(count);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: aDay, kept: 1 });
  });

  test('another user still counts, and an API key up to 100,000', async ({ app, gateway, sql }) => {
    const user = await newUser(gateway);
    const sound = await addSound(sql);
    const partner = clientWith(gateway, await issueKey(sql, user));
    await setReceipts(sql, user, aDay);
    for (const client of [app, partner]) expect(await send(client, playsOf(sound))).toEqual(['counted']);
    await setReceipts(sql, user, aDayForKeys - 1);
    const key = randomUUID();
    for (let time = 0; time < 2; time++) expect(await playOne(partner, sound, key)).toBe(3);
    expect(await send(partner, playsOf(sound))).toEqual(['over_limit']);
  });
});

test('a repeated play uses up no receipt', async ({ gateway, sql }) => {
  const user = await newUser(gateway);
  const [sound, key] = [await addSound(sql), randomUUID()];
  const plays = playsOf(sound, 2);
  for (let time = 0; time < 3; time++) {
    await playOne(user.app, sound, key);
    await send(user.app, plays);
  }
  expect(await receiptsOf(sql, user)).toEqual({ receipts: 3, kept: 3 });
});

test('a user who only sends plays of earlier days is no listener of today', async ({ gateway, sql }) => {
  const { app, user } = await newUser(gateway);
  const sound = await addSound(sql);
  const days = () =>
    sql`select day::text, listened from private.listening_days where user_id = ${user.id} order by day`;
  const plays = playsOf(sound, 1, 1);
  const day = plays[0]?.played_at.slice(0, 10);
  await send(app, plays);
  expect(await days()).toEqual([
    { day, listened: true },
    { day: today, listened: false },
  ]);
  expect((await app.get('/me/export').expect(200)).body.data.listening_days).toEqual([day]);
  await playOne(app, sound, randomUUID());
  expect((await days()).map(({ listened }) => listened)).toEqual([true, true]);
});
