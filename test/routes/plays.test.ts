import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { newUser, test } from '../support/test.ts';

/** Plays a sound, optionally with an Idempotency-Key. */
const play = (app: Api, id: string, key?: string) => {
  const request = app.post(`/sounds/${id}/play`);
  return key === undefined ? request : request.set('Idempotency-Key', key);
};
const countAfter = async (app: Api, id: string, key?: string): Promise<number> =>
  (await play(app, id, key).expect(200)).body.data.play_count;

describe('POST /sounds/{id}/play', () => {
  test('counts a play, once for each key, and returns the current count', async ({ app, sql }) => {
    const [id, key] = [await addSound(sql), randomUUID()];
    for (const [given, play_count] of [
      [key, 1],
      [undefined, 2],
      [key, 2],
      [randomUUID(), 3],
      [key, 3],
    ] as const) {
      const { body } = await play(app, id, given).expect(200);
      expect(body).toEqual({ data: { id, play_count } });
    }
    expect((await app.get(`/sounds/${id}`)).body.data.play_count).toBe(3);
  });

  test('counting neither writes nor locks the row of the sound', async ({ app, gateway, sql }) => {
    const id = await addSound(sql);
    await play(app, id); // the first play creates the row of counts, which refers to the sound
    const version = () => sql`select xmin, xmax, updated_at from public.sounds where id = ${id}`;
    const before = await version();
    await play(app, id, randomUUID());
    await play((await newUser(gateway)).app, id, randomUUID());
    expect(await version()).toEqual(before);
  });

  test('stops counting at the largest integer that is exact in JavaScript', async ({ app, sql }) => {
    const id = await addSound(sql);
    await sql`insert into public.play_counts (sound_id, plays) values (${id}, ${Number.MAX_SAFE_INTEGER - 1})`;
    for (let i = 0; i < 2; i++) expect(await countAfter(app, id)).toBe(Number.MAX_SAFE_INTEGER);
    const beyond = sql`update public.play_counts set plays = plays + 1 where sound_id = ${id}`;
    await expect(beyond).rejects.toThrow('plays_lies_between_0_and_9007199254740991');
  });
});

describe('an Idempotency-Key', () => {
  test('a key has 1 to 255 visible characters, with or without quotes', async ({ app, sql }) => {
    const id = await addSound(sql);
    const uuid = randomUUID();
    const spellings = [
      ['a"b\\c!', '"a\\"b\\\\c!"'], // quoted, as in the draft of the standard
      [uuid.toUpperCase(), uuid, `"${uuid}"`],
      ['a'],
      ['A'], // keys are case-sensitive
      ['~'.repeat(255), `"${'~'.repeat(255)}"`],
    ];
    for (const [index, same] of spellings.entries())
      for (const key of same) expect([key, await countAfter(app, id, key)]).toEqual([key, index + 1]);
  });

  test('a key of another sound gets 400 and counts nothing, and a 404 does not use the key', async ({ app, sql }) => {
    const [first = '', second = ''] = await addSounds(sql, [{}, {}]);
    const key = randomUUID();
    await play(app, first, key).expect(200);
    await play(app, second, key)
      .expect(400)
      .expect('X-Error-Reason', 'key_reused')
      .expect('X-Error-Field', 'Idempotency-Key');
    expect(await countAfter(app, second)).toBe(1);

    const [id, unused] = [await addSound(sql, { is_active: false }), randomUUID()];
    const setActive = (is_active: boolean) => sql`update public.sounds set is_active = ${is_active} where id = ${id}`;
    await play(app, id, unused).expect(404);
    await setActive(true);
    expect(await countAfter(app, id, unused)).toBe(1);
    await setActive(false);
    await play(app, id, unused).expect(404);
  });

  test('a key counts again after 31 days, and the upkeep removes keys of that age', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const [id, key] = [await addSound(sql), randomUUID()];
    await play(app, id, key);
    const age = (days: number) => sql`
      update private.play_receipts set received_at = now() - ${days} * interval '1 day' where key = ${key}`;
    await age(30);
    expect(await countAfter(app, id, key)).toBe(1);
    await age(32);
    expect(await countAfter(app, id, key)).toBe(2);
    await sql`insert into private.listening_days (user_id, day) select ${user.id}, current_date - unnest('{30,32}'::int[])`;
    const keptAfter = async (days: number) => {
      await age(days);
      await sql`select private.upkeep()`;
      return (await sql`select from private.play_receipts where user_id = ${user.id}`).length;
    };
    expect([await keptAfter(30), await keptAfter(32)]).toEqual([1, 0]);
    expect(await sql`select from private.listening_days where user_id = ${user.id}`).toHaveLength(2);
  });
});
