import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { type Session, signUp, test } from '../support/test.ts';

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

const send = (api: Api, { access_token }: Session, plays: unknown) =>
  api.post('/plays').auth(access_token, bearer).send({ plays });

async function statuses(api: Api, session: Session, plays: Play[]): Promise<string[]> {
  const { body } = await send(api, session, plays).expect(200);
  expect(body.data.map(({ id }: Play) => id)).toEqual(plays.map(({ id }) => id.toLowerCase()));
  return body.data.map(({ status }: { status: string }) => status);
}

describe('POST /plays', () => {
  test('counts each id once, and says in the order sent what became of it', async ({ api, sql, user }) => {
    const [first = '', second = ''] = await addSounds(sql, [{}, {}]);
    const hidden = await addSound(sql, { is_active: false });
    const plays = [
      playOf(first),
      playOf(second),
      playOf(hidden),
      playOf(randomUUID()),
      playOf(first, { played_at: ago(31 * day) }),
      playOf(first),
    ];
    expect(await statuses(api, user, plays)).toEqual([
      'counted',
      'counted',
      'not_found',
      'not_found',
      'too_old',
      'counted',
    ]);
    expect(await statuses(api, user, plays)).toEqual([
      'duplicate',
      'duplicate',
      'not_found',
      'not_found',
      'too_old',
      'duplicate',
    ]);
    expect(await sql`select plays from public.play_counts where sound_id in (${first}, ${second})`).toEqual(
      expect.arrayContaining([{ plays: '2' }, { plays: '1' }]),
    );
  });

  test('takes equal ids, also of other sounds, for duplicates', async ({ api, sql, user }) => {
    const [first = '', second = ''] = await addSounds(sql, [{}, {}]);
    const [same, upper] = [randomUUID(), randomUUID()];
    const batch = [
      playOf(first, { id: same }),
      playOf(second, { id: same }),
      playOf(first, { id: upper.toUpperCase() }),
      playOf(first, { id: upper }),
    ];
    expect(await statuses(api, user, batch)).toEqual(['counted', 'duplicate', 'counted', 'duplicate']);
    expect(await statuses(api, user, [playOf(second, { id: same })])).toEqual(['duplicate']);
    expect(await sql`select from public.play_counts where sound_id = ${second}`).toHaveLength(0);
  });

  test('an id is not used up where the sound was not found', async ({ api, sql, user }) => {
    const [id, sound] = [randomUUID(), await addSound(sql)];
    const batch = [playOf(randomUUID(), { id }), playOf(sound, { id })];
    expect(await statuses(api, user, batch)).toEqual(['not_found', 'counted']);
  });

  test('an id and an Idempotency-Key are one', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    const [sentFirst, sentLater] = [randomUUID().toUpperCase(), randomUUID()];
    const single = (key: string) =>
      api
        .post(`/sounds/${sound}/play`)
        .auth(user.access_token, bearer)
        .set('Idempotency-Key', key)
        .expect(200);
    await single(sentFirst);
    const batch = [playOf(sound, { id: sentFirst }), playOf(sound, { id: sentLater })];
    expect(await statuses(api, user, batch)).toEqual(['duplicate', 'counted']);
    expect((await single(sentLater)).body.data.play_count).toBe(2);
  });

  test('counts for the day of played_at in UTC, however it is written', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    const today = new Date().toISOString().slice(0, 10);
    const earlier = ago(3 * day).slice(0, 10);
    const plays = [
      playOf(sound, { played_at: `${earlier}T00:30:00.000+00:00` }),
      playOf(sound, { played_at: `${earlier}T23:59:59.9994-00:00` }),
      playOf(sound, { played_at: `${earlier}T00:30Z` }), // as Java prints it
      playOf(sound, { played_at: `${earlier}T00:30:00.000+0000` }),
      playOf(sound, { played_at: `${earlier} 00:30:00.123456+00:00` }), // as Python prints it
      playOf(sound, { played_at: `${earlier}t00:30:00.123456789z` }),
      playOf(sound, { played_at: ago(-4 * minute) }),
    ];
    expect(await statuses(api, user, plays)).toEqual(plays.map(() => 'counted'));
    expect(
      await sql`select day::text, plays from private.plays_by_day where sound_id = ${sound} order by day`,
    ).toEqual([
      { day: earlier, plays: '6' },
      { day: today, plays: '1' },
    ]);
    const [entry] =
      await sql`select last_played_at <= now() as kept from public.history where sound_id = ${sound}`;
    expect(entry).toEqual({ kept: true });
  });

  test('a play of the future is in_future, and the others count', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    const ahead = [
      ago(-6 * minute),
      ago(-365 * day),
      '9999-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59.999-01:00',
    ];
    const plays = ['0000-01-01T00:00Z', '0001-01-01T00:00:00.000+14:00', ...ahead, ago(minute)].map(
      (played_at) => playOf(sound, { played_at }),
    );
    const expected = ['too_old', 'too_old', ...ahead.map(() => 'in_future'), 'counted'];
    expect(await statuses(api, user, plays)).toEqual(expected);
    expect(await statuses(api, user, plays)).toEqual([...expected.slice(0, -1), 'duplicate']);
    const [row] = await sql`select plays from public.play_counts where sound_id = ${sound}`;
    expect(Number(row?.['plays'])).toBe(1);
  });

  test('rejects what is no moment, and then counts nothing', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    for (const [played_at, message] of [
      ['10000-01-01T00:00:00.000Z', 'must be a date-time'],
      ['2026-02-30T00:00:00.000Z', 'must be a date-time'],
      ['2026-06-23 09:30', 'must be a date-time'],
      ['infinity', 'must be a date-time'],
      [1_782_207_060, 'must be a date-time'],
      [null, 'must be a date-time'],
      [undefined, 'is required'],
    ]) {
      const plays = [playOf(sound), { ...playOf(sound), played_at }];
      const { body } = await send(api, user, plays).expect(400);
      expect(body.error.message).toContain(`plays.1.played_at: ${message}`);
    }
    expect(await sql`select from public.play_counts where sound_id = ${sound}`).toHaveLength(0);
  });

  test('counts up to 100 plays of one request', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    const many = (length: number) => Array.from({ length }, () => playOf(sound));
    expect(await statuses(api, user, many(100))).toEqual(Array(100).fill('counted'));
    const [row] = await sql`select plays from public.play_counts where sound_id = ${sound}`;
    expect(row).toEqual({ plays: '100' });
  });

  test('takes a body of 32 KB, and no more', async ({ api, sql, user }) => {
    const play = playOf(await addSound(sql));
    const padded = (size: number) => {
      const bare = JSON.stringify({ plays: [play], note: '' }).length;
      return { plays: [play], note: 'x'.repeat(size - bare) };
    };
    const request = (size: number) => api.post('/plays').auth(user.access_token, bearer).send(padded(size));
    await request(32 * 1024).expect(200);
    await request(32 * 1024 + 1).expect(400);
  });

  test('costs one request of the limit', async ({ api, sql, user }) => {
    const sound = await addSound(sql);
    const left = async () => {
      const { headers } = await send(api, user, [playOf(sound), playOf(sound), playOf(sound)]).expect(200);
      return Number(headers['x-ratelimit-remaining']);
    };
    const before = await left();
    expect(await left()).toBe(before - 1);
  });

  test('names are those of one user: another may send the same', async ({ api, sql, user }) => {
    const play = playOf(await addSound(sql));
    expect(await statuses(api, user, [play])).toEqual(['counted']);
    expect(await statuses(api, await signUp(api), [play])).toEqual(['counted']);
  });
});
