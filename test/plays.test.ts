import { describe, expect } from 'vitest';
import { bearer } from './support/api.ts';
import { addSound } from './support/catalogue.ts';
import { test } from './support/test.ts';

describe('POST /sounds/{id}/play', () => {
  test('counts one play and returns the new count, which lists and detail then show', async ({
    api,
    sql,
    user,
  }) => {
    const id = await addSound(sql);
    const play = () => api.post(`/sounds/${id}/play`).auth(user.access_token, bearer).expect(200);
    expect((await play()).body).toEqual({ data: { id, play_count: 1 } });
    expect((await play()).body).toEqual({ data: { id, play_count: 2 } });
    const detail = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
    expect(detail.body.data.play_count).toBe(2);
  });

  test('simultaneous plays are all counted, and each gets its own number', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.post(`/sounds/${id}/play`).auth(user.access_token, bearer)),
    );
    const counts = answers.map(({ body }) => body.data.play_count).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test('counting does not write the row of the sound', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const version = () => sql`select xmin, updated_at from public.sounds where id = ${id}`;
    const before = await version();
    await api.post(`/sounds/${id}/play`).auth(user.access_token, bearer);
    expect(await version()).toEqual(before);
  });

  test('stops at the largest integer that is exact in JavaScript', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    await sql`insert into public.play_counts (sound_id, plays) values (${id}, ${Number.MAX_SAFE_INTEGER - 1})`;
    for (let i = 0; i < 2; i++) {
      expect((await api.post(`/sounds/${id}/play`).auth(user.access_token, bearer)).body).toEqual({
        data: { id, play_count: Number.MAX_SAFE_INTEGER },
      });
    }
    await expect(sql`update public.play_counts set plays = plays + 1 where sound_id = ${id}`).rejects.toThrow(
      'plays_lies_between_0_and_9007199254740991',
    );
  });
});
