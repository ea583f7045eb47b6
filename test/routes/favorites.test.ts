import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory, addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { signUp, test } from '../support/test.ts';

describe('favorites', () => {
  test('a favorite can be added, listed with a preview and removed', async ({ api, sql }) => {
    const { access_token: token } = await signUp(api);
    const category = await addCategory(sql);
    const [first = '', second = ''] = await addSounds(sql, [
      { title: 'First', category, cover_image_path: 'a.jpg', duration_sec: 4.5 },
      { title: 'Second' },
    ]);
    for (const sound_id of [first, second]) {
      const { body } = await api.post('/favorites').auth(token, bearer).send({ sound_id }).expect(201);
      expect(body).toEqual({ data: { ok: true } });
    }
    const list = () => api.get('/favorites').auth(token, bearer).expect(200);
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await list()).body).toEqual({
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
    const removed = await api.delete(`/favorites/${second}`).auth(token, bearer).expect(200);
    expect(removed.body).toEqual({ data: { ok: true } });
    expect((await list()).body).toMatchObject({ data: [{ sound_id: first }] });
  });

  test('added again change nothing, not even their time', async ({ api, sql }) => {
    const { access_token: token } = await signUp(api);
    const sound_id = await addSound(sql);
    const add = () => api.post('/favorites').auth(token, bearer).send({ sound_id }).expect(201);
    await add();
    const before = await api.get('/favorites').auth(token, bearer);
    await Promise.all([add(), add(), add()]);
    expect((await api.get('/favorites').auth(token, bearer)).body).toEqual(before.body);
  });

  test('adding an unknown or inactive sound returns 404 and writes nothing', async ({ api, sql }) => {
    const { access_token: token, user } = await signUp(api);
    for (const sound_id of [randomUUID(), await addSound(sql, { is_active: false })]) {
      await api.post('/favorites').auth(token, bearer).send({ sound_id }).expect(404);
    }
    expect(await sql`select from public.favorites where user_id = ${user.id}`).toHaveLength(0);
  });

  test('a favorite of a deactivated sound stays without its preview', async ({ api, sql }) => {
    const { access_token: token } = await signUp(api);
    const sound_id = await addSound(sql);
    await api.post('/favorites').auth(token, bearer).send({ sound_id });
    const preview = async () => (await api.get('/favorites').auth(token, bearer)).body.data;
    await sql`update public.sounds set is_active = false where id = ${sound_id}`;
    expect(await preview()).toMatchObject([{ sound_id, sounds: null }]);
    await sql`update public.sounds set is_active = true where id = ${sound_id}`;
    expect(await preview()).toMatchObject([{ sound_id, sounds: { id: sound_id } }]);
  });

  test('a user has at most 5,000 favorites, also when added at once', async ({ api, sql }) => {
    const { access_token: token, user } = await signUp(api);
    const category = await addCategory(sql);
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Many', ${category}, ${newMoment()} from generate_series(1, 5020)`;
    const sounds = (await sql`select id from public.sounds where category = ${category}`).map(({ id }) => id);
    await sql`
      insert into public.favorites (user_id, sound_id)
      select ${user.id}, id from public.sounds where id = any(${sounds.slice(0, 4990)})`;
    const add = (sound_id: string, credential = token) =>
      api.post('/favorites').auth(credential, bearer).send({ sound_id });

    const answers = await Promise.all(sounds.slice(4990, 5010).map((id) => add(id)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(201), ...Array(10).fill(400)]);
    const rejected = answers.find(({ status }) => status === 400);
    expect(rejected?.body.error.message).toMatch(/^You have 5,000 favorites/);

    expect(rejected?.headers['x-error-reason']).toBe('too_many_favorites');

    const beyond = sounds.slice(5010);
    const [key] = await sql`select api_key from admin.create_api_key('Collector', ${user.email})`;
    await add(beyond[0], key?.['api_key']).expect(400);
    expect((await rest(token, 'POST', 'favorites', { sound_id: beyond[0] })).status).toBe(400);
    await add(sounds[0]).expect(201); // which is one of them
    await add(randomUUID()).expect(404);

    await api.delete(`/favorites/${sounds[0]}`).auth(token, bearer).expect(200);
    const two = beyond.slice(0, 2).map((sound_id) => ({ sound_id }));
    expect((await rest(token, 'POST', 'favorites', two)).status).toBe(400);
    await add(beyond[0]).expect(201);
    expect((await api.get('/favorites').auth(token, bearer)).body.data).toHaveLength(5000);
  });
});
