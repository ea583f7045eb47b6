import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { newUser, type Sql, test } from '../support/test.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

type Play = { id: string; sound_id: string; played_at: string };

const playOf = (sound_id: string, more: Partial<Play> = {}): Play => ({
  id: randomUUID(),
  sound_id,
  played_at: ago(minute),
  ...more,
});

async function send(app: Api, plays: Play[]): Promise<string[]> {
  const { body } = await app.post('/plays').send({ plays }).expect(200);
  expect(body.data.map(({ id }: Play) => id)).toEqual(plays.map(({ id }) => id.toLowerCase()));
  return body.data.map(({ status }: { status: string }) => status);
}

/** Plays of each sound. */
const playsOf = async (sql: Sql, sounds: string[]) =>
  (
    await sql`
      select coalesce(plays, 0)::int as plays from unnest(${sounds}::uuid[]) with ordinality as sound (id, place)
        left join public.play_counts on sound_id = id order by place`
  ).map((row) => row['plays']);

describe('POST /plays', () => {
  test('counts each id once, and says in the order sent what became of it', async ({ app, sql }) => {
    const sounds = await addSounds(sql, [{}, {}]);
    const [first = '', second = ''] = sounds;
    const [same, upper, unused] = [randomUUID(), randomUUID(), randomUUID()];
    const plays = [
      [playOf(first, { id: same }), 'counted'],
      [playOf(second, { id: same }), 'duplicate'], // also of another sound
      [playOf(first, { id: upper.toUpperCase() }), 'counted'],
      [playOf(first, { id: upper }), 'duplicate'],
      [playOf(await addSound(sql, { is_active: false })), 'not_found'],
      [playOf(randomUUID(), { id: unused }), 'not_found'], // uses up no id
      [playOf(second, { id: unused }), 'counted'],
      [playOf(first, { played_at: ago(31 * day) }), 'too_old'],
    ] as const;
    const sent = plays.map(([play]) => play);
    const expected = plays.map(([, status]) => status);
    expect(await send(app, sent)).toEqual(expected);
    expect(await send(app, sent.toSpliced(5, 1))).toEqual(
      expected.toSpliced(5, 1).map((status) => (status === 'counted' ? 'duplicate' : status)),
    );
    expect(await playsOf(sql, sounds)).toEqual([2, 1]);
  });

  test('an id and an Idempotency-Key are one, of one user', async ({ app, gateway, sql }) => {
    const sound = await addSound(sql);
    const [sentFirst, sentLater] = [randomUUID().toUpperCase(), randomUUID()];
    const single = (key: string) => app.post(`/sounds/${sound}/play`).set('Idempotency-Key', key).expect(200);
    await single(sentFirst);
    const batch = [playOf(sound, { id: sentFirst }), playOf(sound, { id: sentLater })];
    expect(await send(app, batch)).toEqual(['duplicate', 'counted']);
    expect((await single(sentLater)).body.data.play_count).toBe(2);
    expect(await send((await newUser(gateway)).app, batch)).toEqual(['counted', 'counted']);
  });

  test('counts for the day of played_at in UTC, however it is written', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const earlier = ago(3 * day).slice(0, 10);
    const moments = [
      `${earlier}T00:30:00.000+00:00`,
      `${earlier}T23:59:59.9994-00:00`,
      `${earlier}T00:30Z`, // as Java prints it
      `${earlier} 00:30:00.123456+00:00`, // as Python prints it
      ago(-4 * minute),
    ];
    const plays = moments.map((played_at) => playOf(sound, { played_at }));
    expect(await send(app, plays)).toEqual(plays.map(() => 'counted'));
    expect(
      await sql`select day::text, plays::int from private.plays_by_day where sound_id = ${sound} order by day`,
    ).toEqual([
      { day: earlier, plays: 4 },
      { day: new Date().toISOString().slice(0, 10), plays: 1 },
    ]);
    expect(
      await sql`select last_played_at <= now() as kept from public.history where sound_id = ${sound}`,
    ).toEqual([{ kept: true }]);
  });

  test('a play of the future is in_future, and the others count', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const statuses = {
      '0000-01-01T00:00Z': 'too_old',
      '0001-01-01T00:00:00.000+14:00': 'too_old',
      [ago(-6 * minute)]: 'in_future',
      '9999-12-31T23:59:59.999-01:00': 'in_future',
      [ago(minute)]: 'counted',
    };
    const plays = Object.keys(statuses).map((played_at) => playOf(sound, { played_at }));
    expect(await send(app, plays)).toEqual(Object.values(statuses));
    expect(await send(app, plays)).toEqual([...Object.values(statuses).slice(0, -1), 'duplicate']);
    expect(await playsOf(sql, [sound])).toEqual([1]);
  });

  test('rejects what is no moment, and then counts nothing', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const wrong = [
      '10000-01-01T00:00:00.000Z',
      '2026-02-30T00:00:00.000Z',
      '2026-06-23 09:30',
      1_782_207_060,
      null,
    ];
    for (const played_at of [...wrong, undefined]) {
      const plays = [playOf(sound), { ...playOf(sound), played_at }];
      const { body } = await app.post('/plays').send({ plays }).expect(400);
      const message = played_at === undefined ? 'is required' : 'must be a date-time';
      expect(body.error.message).toContain(`plays.1.played_at: ${message}`);
    }
    expect(await playsOf(sql, [sound])).toEqual([0]);
  });

  test('takes 100 plays and 32 KB as one request of the limit, and no more', async ({ app, sql }) => {
    const sound = await addSound(sql);
    const plays = Array.from({ length: 100 }, () => playOf(sound));
    const request = (size: number) => {
      const note = 'x'.repeat(size - JSON.stringify({ plays, note: '' }).length);
      return app.post('/plays').send({ plays, note });
    };
    const first = await request(32 * 1024).expect(200);
    expect(first.body.data.every(({ status }: { status: string }) => status === 'counted')).toBe(true);
    const rejected = await request(32 * 1024 + 1).expect(400);
    const left = [first, rejected].map((answer) => Number(answer.get('X-RateLimit-Remaining')));
    expect(left[1]).toBe(Number(left[0]) - 1);
    expect(await playsOf(sql, [sound])).toEqual([100]);
  });
});
