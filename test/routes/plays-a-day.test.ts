import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { type Session, type Sql, signUp, test } from '../support/test.ts';

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

const playsOf = (sound_id: string, count: number, ageDays = 0) =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    sound_id,
    played_at: new Date(Date.now() - ageDays * 86_400_000).toISOString(),
  }));

async function send(
  api: Api,
  { access_token }: Session,
  plays: ReturnType<typeof playsOf>,
): Promise<string[]> {
  const { body } = await api.post('/plays').auth(access_token, bearer).send({ plays }).expect(200);
  return body.data.map(({ status }: { status: string }) => status);
}

async function playOne(api: Api, { access_token }: Session, sound: string, key: string): Promise<number> {
  const request = api.post(`/sounds/${sound}/play`).auth(access_token, bearer).set('Idempotency-Key', key);
  return (await request.expect(200)).body.data.play_count;
}

async function withKey(sql: Sql, session: Session): Promise<Session> {
  const [row] = await sql`select api_key from admin.create_api_key('Partner', ${session.user.email})`;
  return { ...session, access_token: row?.['api_key'] };
}

describe('beyond 1,000 receipts of a user on a day', () => {
  test('POST /plays counts what fits, and answers over_limit for the rest', async ({ api, sql }) => {
    const user = await signUp(api);
    const sound = await addSound(sql);
    const plays = playsOf(sound, 5);
    await setReceipts(sql, user, aDay - 3);
    const answer = ['counted', 'counted', 'counted', 'over_limit', 'over_limit'];
    expect(await send(api, user, plays)).toEqual(answer);
    expect(await send(api, user, plays)).toEqual(
      answer.map((status) => status.replace('counted', 'duplicate')),
    );
    expect(await receiptsOf(sql, user)).toEqual({ receipts: aDay, kept: 3 });
    expect(await sql`select plays::int from public.play_counts where sound_id = ${sound}`).toEqual([
      { plays: 3 },
    ]);
    expect(await sql`select plays::int from public.history where user_id = ${user.user.id}`).toEqual([
      { plays: 3 },
    ]);
  });

  test('plays count towards the day on which they arrive', async ({ api, sql }) => {
    const user = await signUp(api);
    const sound = await addSound(sql);
    await setReceipts(sql, user, aDay);
    expect(await send(api, user, playsOf(sound, 1, 3))).toEqual(['over_limit']);
    await sql`update private.listening_days set day = day - 1 where user_id = ${user.user.id}`;
    expect(await send(api, user, playsOf(sound, 1, 1))).toEqual(['counted']);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: 1, kept: 1 });
  });

  test('a play that could not be counted anyway keeps its status', async ({ api, sql }) => {
    const user = await signUp(api);
    const [sound, hidden] = [await addSound(sql), await addSound(sql, { is_active: false })];
    await setReceipts(sql, user, aDay);
    const plays = [playsOf(hidden, 1), playsOf(sound, 1, 31), playsOf(sound, 1)].flat();
    expect(await send(api, user, plays)).toEqual(['not_found', 'too_old', 'over_limit']);
  });

  test('a single play counts, but its key is not remembered', async ({ api, sql }) => {
    const user = await signUp(api);
    const [sound, early, late] = [await addSound(sql), randomUUID(), randomUUID()];
    await setReceipts(sql, user, aDay - 1);
    expect(await playOne(api, user, sound, early)).toBe(1);
    expect(await playOne(api, user, sound, early)).toBe(1);
    expect(await playOne(api, user, sound, late)).toBe(2);
    expect(await playOne(api, user, sound, late)).toBe(3);
    expect(await playOne(api, user, sound, early)).toBe(3);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: aDay, kept: 1 });
  });

  test('another user still counts, and an API key up to 100,000', async ({ api, sql }) => {
    const user = await signUp(api);
    const sound = await addSound(sql);
    const partner = await withKey(sql, user);
    await setReceipts(sql, user, aDay);
    expect(await send(api, await signUp(api), playsOf(sound, 1))).toEqual(['counted']);
    expect(await send(api, partner, playsOf(sound, 1))).toEqual(['counted']);
    await setReceipts(sql, user, aDayForKeys - 1);
    const key = randomUUID();
    expect(await playOne(api, partner, sound, key)).toBe(3);
    expect(await playOne(api, partner, sound, key)).toBe(3);
    expect(await send(api, partner, playsOf(sound, 1))).toEqual(['over_limit']);
  });
});

test('a repeated play uses up no receipt', async ({ api, sql }) => {
  const user = await signUp(api);
  const [sound, key] = [await addSound(sql), randomUUID()];
  for (let i = 0; i < 3; i++) await playOne(api, user, sound, key);
  const plays = playsOf(sound, 2);
  for (let i = 0; i < 3; i++) await send(api, user, plays);
  expect(await receiptsOf(sql, user)).toEqual({ receipts: 3, kept: 3 });
});

test('a user who only sends plays of earlier days is no listener of today', async ({ api, sql }) => {
  const user = await signUp(api);
  const sound = await addSound(sql);
  const days = () =>
    sql`select day::text, listened from private.listening_days where user_id = ${user.user.id} order by day`;
  const [yesterday] = playsOf(sound, 1, 1);
  const day = yesterday?.played_at.slice(0, 10);
  await send(api, user, yesterday ? [yesterday] : []);
  expect(await days()).toEqual([
    { day, listened: true },
    { day: today, listened: false },
  ]);
  const { body } = await api.get('/me/export').auth(user.access_token, bearer).expect(200);
  expect(body.data.listening_days).toEqual([day]);
  await playOne(api, user, sound, randomUUID());
  expect((await days()).map(({ listened }) => listened)).toEqual([true, true]);
});
