import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { clientWith, issueKey, newUser, test } from '../support/test.ts';

describe('favorites', () => {
  test('a favorite can be added, listed with a preview and removed', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const category = await addCategory(sql);
    const [first = '', second = ''] = await addSounds(sql, [
      { title: 'First', category, cover_image_path: 'a.jpg', duration_sec: 4.5 },
      { title: 'Second' },
    ]);
    const ok = { data: { ok: true } };
    const add = (sound_id: string) => app.post('/favorites').send({ sound_id });
    for (const sound_id of [first, second]) await add(sound_id).expect(201, ok);
    const list = async () => (await app.get('/favorites').expect(200)).body;
    const added = await list();
    const created_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(added).toEqual({
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

    // Adding one again changes nothing, not even its time.
    await Promise.all([1, 2, 3].map(() => add(first).expect(201)));
    expect(await list()).toEqual(added);
    for (const sound_id of [randomUUID(), await addSound(sql, { is_active: false })])
      await add(sound_id).expect(404);
    expect(await sql`select from public.favorites where user_id = ${user.id}`).toHaveLength(2);

    await app.delete(`/favorites/${second}`).expect(200, ok);
    const setActive = (is_active: boolean) =>
      sql`update public.sounds set is_active = ${is_active} where id = ${first}`;
    await setActive(false); // keeps the favorite, without its preview
    expect((await list()).data).toMatchObject([{ sound_id: first, sounds: null }]);
    await setActive(true);
    expect((await list()).data).toMatchObject([{ sound_id: first, sounds: { id: first } }]);
  });

  test('a user has at most 5,000 favorites, also when added at once', async ({ gateway, sql }) => {
    const { app, access_token: token, ...session } = await newUser(gateway);
    const category = await addCategory(sql);
    await sql`
      insert into public.sounds (title, category, created_at)
      select 'Many', ${category}, ${newMoment()}::timestamptz + n * interval '1 ms' from generate_series(1, 5006) as n`;
    const sounds = (await sql`select id from public.sounds where category = ${category}`).map(({ id }) => id);
    await sql`
      insert into public.favorites (user_id, sound_id)
      select ${session.user.id}, id from unnest(${sounds.slice(0, 4998)}::uuid[]) as id`;
    const add = (sound_id: string, client = app) => client.post('/favorites').send({ sound_id });

    const answers = await Promise.all(sounds.slice(4998, 5004).map((id) => add(id)));
    const rejected = answers.filter(({ status }) => status !== 201);
    expect(rejected.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(rejected[0]?.body.error.message).toMatch(/^You have 5,000 favorites/);
    expect(rejected[0]?.headers['x-error-reason']).toBe('too_many_favorites');

    const beyond = sounds.slice(5004);
    const partner = clientWith(gateway, await issueKey(sql, { access_token: token, ...session }));
    await add(beyond[0], partner).expect(400);
    await add(sounds[0]).expect(201); // which is one of them
    await add(randomUUID()).expect(404);
    await app.delete(`/favorites/${sounds[0]}`).expect(200);
    const two = beyond.map((sound_id) => ({ sound_id }));
    expect((await rest(token, 'POST', 'favorites', two)).status).toBe(400);
    await add(beyond[0]).expect(201);
    expect((await app.get('/favorites')).body.data).toHaveLength(5000);
  });
});
