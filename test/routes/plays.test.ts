import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { signUp, test } from '../support/test.ts';

/** Plays a sound; with a key, once for each. */
const play = (api: Api, token: string, id: string, key?: string) => {
  const request = api.post(`/sounds/${id}/play`).auth(token, bearer);
  return key === undefined ? request : request.set('Idempotency-Key', key);
};

describe('POST /sounds/{id}/play', () => {
  test('counts one play and returns the new count', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    for (const play_count of [1, 2]) {
      const { body } = await play(api, user.access_token, id).expect(200);
      expect(body).toEqual({ data: { id, play_count } });
    }
    const detail = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
    expect(detail.body.data.play_count).toBe(2);
  });

  test('simultaneous plays are all counted, and each gets its own number', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => play(api, user.access_token, id).expect(200)),
    );
    const counts = answers.map(({ body }) => body.data.play_count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  });

  test('counting neither writes nor locks the row of the sound', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    await play(api, user.access_token, id); // the first of all needs its rows of counts, which refer to the sound
    const version = () => sql`select xmin, xmax, updated_at from public.sounds where id = ${id}`;
    const before = await version();
    await play(api, user.access_token, id, randomUUID());
    await play(api, (await signUp(api)).access_token, id, randomUUID());
    expect(await version()).toEqual(before);
  });

  test('stops at the largest integer that is exact in JavaScript', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    await sql`insert into public.play_counts (sound_id, plays) values (${id}, ${Number.MAX_SAFE_INTEGER - 1})`;
    for (let i = 0; i < 2; i++) {
      expect((await play(api, user.access_token, id)).body).toEqual({
        data: { id, play_count: Number.MAX_SAFE_INTEGER },
      });
    }
    await expect(sql`update public.play_counts set plays = plays + 1 where sound_id = ${id}`).rejects.toThrow(
      'plays_lies_between_0_and_9007199254740991',
    );
  });
});

describe('an Idempotency-Key', () => {
  test('counts once; the repeat is told the count as it is now', async ({ api, sql, user }) => {
    const [id, key] = [await addSound(sql), randomUUID()];
    for (const [given, play_count] of [
      [key, 1],
      [undefined, 2],
      [key, 2],
      [randomUUID(), 3],
      [key, 3],
    ] as const) {
      const { body } = await play(api, user.access_token, id, given).expect(200);
      expect(body).toEqual({ data: { id, play_count } });
    }
  });

  test.for([
    ['quoted, as the draft writes it', 'a"b\\c!', '"a\\"b\\\\c!"'],
    ['a UUID in capital letters', randomUUID().toUpperCase(), randomUUID()],
  ])('a key is the same %s', async ([, bare = '', other = ''], { api, sql, user }) => {
    const id = await addSound(sql);
    const spellings = other.includes('"') ? [bare, other] : [bare, bare.toLowerCase(), `"${bare}"`];
    for (const key of spellings) {
      const { body } = await play(api, user.access_token, id, key).expect(200);
      expect([key, body.data.play_count]).toEqual([key, 1]);
    }
  });

  test('may have 1 to 255 visible characters, and the case of letters counts', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    for (const [index, key] of ['!', 'a', 'A', '~'.repeat(255), `"${'x'.repeat(255)}"`].entries()) {
      const { body } = await play(api, user.access_token, id, key).expect(200);
      expect(body.data.play_count).toBe(index + 1);
    }
  });

  test('a key that was used for another sound gets 400 and counts nothing', async ({ api, sql, user }) => {
    const [first, second, key] = [await addSound(sql), await addSound(sql), randomUUID()];
    await play(api, user.access_token, first, key).expect(200);
    const { body } = await play(api, user.access_token, second, key)
      .expect(400)
      .expect('X-Error-Reason', 'key_reused')
      .expect('X-Error-Field', 'Idempotency-Key');
    expect(body.error.message).toMatch(/^Idempotency-Key: was used for another sound\./);
    expect((await play(api, user.access_token, second)).body.data.play_count).toBe(1);
  });

  test('a 404 does not use up a key', async ({ api, sql, user }) => {
    const [id, key] = [await addSound(sql, { is_active: false }), randomUUID()];
    await play(api, user.access_token, randomUUID(), key).expect(404);
    await play(api, user.access_token, id, key).expect(404);
    await sql`update public.sounds set is_active = true where id = ${id}`;
    expect((await play(api, user.access_token, id, key).expect(200)).body.data.play_count).toBe(1);
    await sql`update public.sounds set is_active = false where id = ${id}`;
    await play(api, user.access_token, id, key).expect(404);
  });

  test('two users may use the same key', async ({ api, sql, user }) => {
    const [id, key, other] = [await addSound(sql), randomUUID(), await signUp(api)];
    expect((await play(api, user.access_token, id, key)).body.data.play_count).toBe(1);
    expect((await play(api, other.access_token, id, key)).body.data.play_count).toBe(2);
    expect((await play(api, other.access_token, id, key)).body.data.play_count).toBe(2);
  });

  test('an API key shares the keys of its owner', async ({ api, sql, user }) => {
    const [id, key] = [await addSound(sql), randomUUID()];
    const [row] = await sql`select api_key from admin.create_api_key('Partner', ${user.user.email})`;
    for (const token of [user.access_token, row?.['api_key'], row?.['api_key']]) {
      expect((await play(api, token, id, key).expect(200)).body.data.play_count).toBe(1);
    }
    await play(api, row?.['api_key'], await addSound(sql), key).expect(400);
  });

  test('counts again when its receipt is older than 31 days', async ({ api, sql, user }) => {
    const [id, key] = [await addSound(sql), randomUUID()];
    await play(api, user.access_token, id, key);
    const age = (days: number) => sql`
      update private.play_receipts set received_at = now() - ${`${days} days`}::interval where key = ${key}`;
    await age(30);
    expect((await play(api, user.access_token, id, key)).body.data.play_count).toBe(1);
    await age(32);
    expect((await play(api, user.access_token, id, key)).body.data.play_count).toBe(2);
  });
});

test('the upkeep removes receipts and listening days after 31 days', async ({ api, sql, user }) => {
  const id = await addSound(sql);
  const { user: gone } = await signUp(api);
  const days = [30, 40];
  await sql`
    insert into private.play_receipts (user_id, key, sound_id, received_at)
    select ${gone.id}, days::text, ${id}, now() - days * interval '1 day' from unnest(${days}::int[]) as days`;
  await sql`
    insert into private.listening_days (user_id, day)
    select ${gone.id}, current_date - days from unnest(${days}::int[]) as days`;
  await play(api, user.access_token, id, randomUUID()).expect(200);
  const left = async () => {
    const [row] = await sql`
      select (select count(*)::int from private.play_receipts where user_id = ${gone.id}) as receipts,
        (select count(*)::int from private.listening_days where user_id = ${gone.id}) as days`;
    return row;
  };
  expect(await left()).toEqual({ receipts: 2, days: 2 });
  await sql`select private.upkeep()`;
  expect(await left()).toEqual({ receipts: 1, days: 1 });
});
