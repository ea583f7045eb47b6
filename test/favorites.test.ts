import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds } from './support/catalogue.ts';
import { test } from './support/test.ts';

type Favorites = { data: { sound_id: string; created_at: string; sounds: unknown }[] };

describe('favorites', () => {
  test('are added, listed newest first with a compact preview, and removed', async ({ api, sql }) => {
    const { access_token: token } = await api.signUp();
    const category = await addCategory(sql);
    const [first = '', second = ''] = await addSounds(sql, [
      { title: 'First', category, cover_image_path: 'a.jpg', duration_sec: 4.5 },
      { title: 'Second' },
    ]);
    for (const sound_id of [first, second]) {
      const { status, body } = await api.post('/favorites', { token, body: { sound_id } });
      expect(status).toBe(201);
      expect(body).toEqual({ data: { ok: true } });
    }
    const list = await api.get<Favorites>('/favorites', { token });
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(list.body).toEqual({
      data: [
        {
          sound_id: second,
          created_at,
          sounds: { id: second, title: 'Second', category: null, cover_image_url: null, duration_sec: null },
        },
        {
          sound_id: first,
          created_at,
          sounds: { id: first, title: 'First', category, cover_image_url: 'covers/a.jpg', duration_sec: 4.5 },
        },
      ],
    });
    expect((await api.send('DELETE', `/favorites/${second}`, { token })).body).toEqual({
      data: { ok: true },
    });
    expect(
      (await api.get<Favorites>('/favorites', { token })).body.data.map((item) => item.sound_id),
    ).toEqual([first]);
  });

  test('added again change nothing, not even their time', async ({ api, sql }) => {
    const { access_token: token } = await api.signUp();
    const sound_id = await addSound(sql);
    const add = () => api.post('/favorites', { token, body: { sound_id } });
    await add();
    const before = await api.get<Favorites>('/favorites', { token });
    const again = await Promise.all([add(), add(), add()]);
    expect(again.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await api.get<Favorites>('/favorites', { token })).body).toEqual(before.body);
  });

  test('of an unknown or inactive sound are 404 and nothing is written', async ({ api, sql }) => {
    const { access_token: token, user } = await api.signUp();
    for (const sound_id of [randomUUID(), await addSound(sql, { is_active: false })]) {
      expect((await api.post('/favorites', { token, body: { sound_id } })).status).toBe(404);
    }
    expect(await sql`select from public.favorites where user_id = ${user.id}`).toHaveLength(0);
  });

  test('of a sound that is deactivated are kept without preview, and it returns with the sound', async ({
    api,
    sql,
  }) => {
    const { access_token: token } = await api.signUp();
    const sound_id = await addSound(sql);
    await api.post('/favorites', { token, body: { sound_id } });
    const preview = async () => (await api.get<Favorites>('/favorites', { token })).body.data;
    await sql`update public.sounds set is_active = false where id = ${sound_id}`;
    expect(await preview()).toMatchObject([{ sound_id, sounds: null }]);
    await sql`update public.sounds set is_active = true where id = ${sound_id}`;
    expect(await preview()).toMatchObject([{ sound_id, sounds: { id: sound_id } }]);
  });

  test('are those of the caller alone', async ({ api, sql }) => {
    const [mine, other] = [await api.signUp(), await api.signUp()];
    const sound_id = await addSound(sql);
    await api.post('/favorites', { token: mine.access_token, body: { sound_id } });
    expect((await api.get<Favorites>('/favorites', { token: other.access_token })).body.data).toEqual([]);
    await api.send('DELETE', `/favorites/${sound_id}`, { token: other.access_token });
    expect((await api.get<Favorites>('/favorites', { token: mine.access_token })).body.data).toHaveLength(1);
  });

  test('are never cut: 1,500 of them come in one answer', async ({ api, sql }) => {
    const { access_token: token, user } = await api.signUp();
    const category = await addCategory(sql);
    await sql`
      with added as (
        insert into public.sounds (title, category) select 'Many', ${category} from generate_series(1, 1500) returning id
      )
      insert into public.favorites (user_id, sound_id) select ${user.id}, id from added`;
    const { body } = await api.get<Favorites>('/favorites', { token });
    expect(new Set(body.data.map((item) => item.sound_id)).size).toBe(1500);
  });

  test('that are not there are removed without an error; a malformed id names nothing', async ({
    api,
    user,
  }) => {
    const token = user.access_token;
    expect((await api.send('DELETE', `/favorites/${randomUUID()}`, { token })).status).toBe(200);
    expect((await api.send('DELETE', '/favorites/not-a-uuid', { token })).status).toBe(404);
  });

  test('need a sound_id that is a uuid', async ({ api, user }) => {
    for (const body of [
      {},
      { sound_id: null },
      { sound_id: 'x' },
      { sound_id: 5 },
      { sound_id: [randomUUID()] },
    ]) {
      const answer = await api.post<{ error: { message: string } }>('/favorites', {
        token: user.access_token,
        body,
      });
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toMatch(/^sound_id: /);
    }
  });
});
