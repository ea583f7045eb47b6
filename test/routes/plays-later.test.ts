import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { clientWith, issueKey, newUser, type Session, type Sql, test } from '../support/test.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const today = ago(0).slice(0, 10);

interface Play {
  id: string;
  sound_id: string;
  played_at: string;
}

const playOf = (sound_id: string, more: Partial<Play> = {}): Play => ({
  id: randomUUID(),
  sound_id,
  played_at: ago(minuteMs),
  ...more,
});

async function send(app: Api, plays: Play[]): Promise<string[]> {
  const { body } = await app.post('/plays').send({ plays }).expect(200);
  expect(body.data.map(({ id }: Play) => id)).toEqual(plays.map(({ id }) => id.toLowerCase()));
  return body.data.map(({ status }: { status: string }) => status);
}

async function playOne(app: Api, sound: string, key: string): Promise<number> {
  const request = app.post(`/sounds/${sound}/play`).set('Idempotency-Key', key);
  return (await request.expect(200)).body.data.play_count;
}

const playsOf = async (sql: Sql, sound: string) =>
  (await sql`select plays::int from public.play_counts where sound_id = ${sound}`)[0]?.['plays'];

describe('POST /plays', () => {
  test('counts each id once, and returns the status of each play in the order sent', async ({ app, sql }) => {
    const [first = '', second = ''] = await addSounds(sql, [{}, {}]);
    const [same, upper, unused] = [randomUUID(), randomUUID(), randomUUID()];
    const plays = [
      [playOf(first, { id: same }), 'counted'],
      [playOf(second, { id: same }), 'duplicate'], // also for another sound
      [playOf(first, { id: upper.toUpperCase() }), 'counted'],
      [playOf(first, { id: upper }), 'duplicate'],
      [playOf(await addSound(sql, { is_active: false })), 'not_found'],
      [playOf(randomUUID(), { id: unused }), 'not_found'], // does not use its id
      [playOf(second, { id: unused }), 'counted'],
      [playOf(second, { played_at: ago(30 * dayMs - minuteMs) }), 'counted'],
      [playOf(first, { played_at: ago(30 * dayMs + minuteMs) }), 'too_old'],
      [playOf(first, { played_at: '0000-01-01T00:00Z' }), 'too_old'],
      [playOf(first, { played_at: '0001-01-01T00:00:00.000+14:00' }), 'too_old'],
      [playOf(first, { played_at: ago(-6 * minuteMs) }), 'in_future'],
      [playOf(first, { played_at: '9999-12-31T23:59:59.999-01:00' }), 'in_future'],
    ] as const;
    const sent = plays.map(([play]) => play);
    const expected = plays.map(([, status]) => status);
    expect(await send(app, sent)).toEqual(expected);
    expect(await send(app, sent.toSpliced(5, 1))).toEqual(
      expected.toSpliced(5, 1).map((status) => (status === 'counted' ? 'duplicate' : status)),
    );
    expect([await playsOf(sql, first), await playsOf(sql, second)]).toEqual([2, 2]);
  });

  test('an id and an equal Idempotency-Key count once for a user and their API keys', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const partner = clientWith(gateway, await issueKey(sql, user));
    const [sound, sentFirst, sentLater] = [await addSound(sql), randomUUID().toUpperCase(), randomUUID()];
    for (const client of [user.app, partner]) expect(await playOne(client, sound, sentFirst)).toBe(1);
    const batch = [playOf(sound, { id: sentFirst }), playOf(sound, { id: sentLater })];
    expect(await send(user.app, batch)).toEqual(['duplicate', 'counted']);
    for (const client of [partner, user.app]) expect(await playOne(client, sound, sentLater)).toBe(2);
    const { app: other } = await newUser(gateway);
    expect(await playOne(other, sound, sentFirst)).toBe(3);
    expect(await send(other, batch)).toEqual(['duplicate', 'counted']);
  });

  test('counts for the day of played_at in UTC, in every spelling of the time', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const earlier = ago(3 * dayMs).slice(0, 10);
    const moments = [
      `${earlier}T00:30:00.000+00:00`,
      `${earlier}T23:59:59.9994-00:00`,
      `${earlier}T00:30Z`, // format of Java
      `${earlier} 00:30:00.123456+00:00`, // format of Python
      ago(-4 * minuteMs),
    ];
    const plays = moments.map((played_at) => playOf(sound, { played_at }));
    expect(await send(app, plays)).toEqual(plays.map(() => 'counted'));
    const days = sql`select day::text, plays::int from private.plays_by_day where sound_id = ${sound} order by day`;
    expect((await days).map(({ day, plays }) => [day, plays])).toEqual([
      [earlier, 4],
      [today, 1],
    ]);
    const future = sql`select from public.history where sound_id = ${sound} and last_played_at > now()`;
    expect(await future).toHaveLength(0);
  });

  test('accepts at most 100 plays and 32 KB', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const plays = Array.from({ length: 100 }, () => playOf(sound));
    const post = (bytes: number) => {
      const note = 'x'.repeat(bytes - JSON.stringify({ plays, note: '' }).length);
      return app.post('/plays').send({ plays, note });
    };
    await post(32 * 1024).expect(200);
    await post(32 * 1024 + 1).expect(400);
    expect(await playsOf(sql, sound)).toBe(100);
  });

  test('plays of earlier days do not make their user a listener of today', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const sound = await addSound(sql);
    const days = async () => (await app.get('/me/export').expect(200)).body.data.listening_days;
    const play = playOf(sound, { played_at: ago(dayMs) });
    const day = play.played_at.slice(0, 10);
    await send(app, [play]);
    expect(await days()).toEqual([day]);
    await playOne(app, sound, randomUUID());
    expect(await days()).toEqual([day, today]);
  });
});

describe('beyond 1,000 receipts of a user on a day', () => {
  /** Sets the number of receipts that a user has stored today. */
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

  test('POST /plays counts plays up to the limit, and returns over_limit for the others', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const sound = await addSound(sql);
    const plays = Array.from({ length: 5 }, () => playOf(sound));
    await setReceipts(sql, user, 997);
    expect(await send(user.app, plays.slice(0, 2))).toEqual(['counted', 'counted']);
    // Duplicates do not use a receipt.
    const answer = ['duplicate', 'duplicate', 'counted', 'over_limit', 'over_limit'];
    expect(await send(user.app, plays)).toEqual(answer);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: 1_000, kept: 3 });
    const entered = await sql`select plays::int from public.history where sound_id = ${sound}`;
    expect([await playsOf(sql, sound), entered[0]?.['plays']]).toEqual([3, 3]);

    // A play that cannot be counted for another reason keeps its status. Others count towards the day of arrival.
    const earlier = (days: number) => playOf(sound, { played_at: ago(days * dayMs) });
    const others = [playOf(await addSound(sql, { is_active: false })), earlier(31), earlier(3)];
    expect(await send(user.app, others)).toEqual(['not_found', 'too_old', 'over_limit']);
    await sql`update private.listening_days set day = day - 9 where user_id = ${user.user.id}`;
    expect(await send(user.app, [earlier(1)])).toEqual(['counted']);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: 1, kept: 4 });
  });

  test('a single play counts, but its key is not stored', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const [sound, early, last, late] = [await addSound(sql), randomUUID(), randomUUID(), randomUUID()];
    await setReceipts(sql, user, 998);
    const counts = [];
    for (const key of [early, early, last, last, late, late, early]) counts.push(await playOne(user.app, sound, key));
    expect(counts).toEqual([1, 1, 2, 2, 3, 4, 4]);
    expect(await receiptsOf(sql, user)).toEqual({ receipts: 1_000, kept: 2 });
  });

  test('plays of another user still count, and plays with an API key up to 100,000', async ({ app, gateway, sql }) => {
    const user = await newUser(gateway);
    const sound = await addSound(sql);
    const partner = clientWith(gateway, await issueKey(sql, user));
    await setReceipts(sql, user, 1_000);
    for (const client of [app, partner]) expect(await send(client, [playOf(sound)])).toEqual(['counted']);
    await setReceipts(sql, user, 99_999);
    const key = randomUUID();
    for (let time = 0; time < 2; time++) expect(await playOne(partner, sound, key)).toBe(3);
    expect(await send(partner, [playOf(sound)])).toEqual(['over_limit']);
  });
});
