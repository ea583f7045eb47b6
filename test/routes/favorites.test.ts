import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds, barePreview } from '../support/catalogue.ts';
import { newUser, test } from '../support/test.ts';

describe('favorites', () => {
  test('a favorite can be added, listed with a preview and removed', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const category = await addCategory(sql);
    const preview = {
      title: 'First',
      category,
      duration_sec: 4.5,
      cover_placeholder: 'k7kMBYA3eYiAd4iAiA==',
      is_premium: true,
    };
    const rows = [{ ...preview, cover_image_path: 'a.jpg' }, { title: 'Second' }];
    const [first = '', second = ''] = await addSounds(sql, rows);
    const ok = { data: { ok: true } };
    const add = (sound_id: string) => app.post('/favorites').send({ sound_id });
    for (const sound_id of [first, second]) await add(sound_id).expect(201, ok);
    const list = async () => (await app.get('/favorites').expect(200)).body.data;
    const added = await list();
    const created_at = expect.any(String);
    expect(added).toEqual([
      { sound_id: second, created_at, sounds: { id: second, title: 'Second', ...barePreview } },
      { sound_id: first, created_at, sounds: { id: first, ...preview, cover_image_url: 'covers/a.jpg' } },
    ]);

    // Adding a favorite again changes nothing, not even its time.
    await Promise.all([1, 2, 3].map(() => add(first).expect(201)));
    expect(await list()).toEqual(added);
    for (const sound_id of [randomUUID(), await addSound(sql, { is_active: false })]) await add(sound_id).expect(404);
    expect(await sql`select from public.favorites where user_id = ${user.id}`).toHaveLength(2);

    await app.delete(`/favorites/${second}`).expect(200, ok);
    const setActive = (is_active: boolean) =>
      sql`update public.sounds set is_active = ${is_active} where id = ${first}`;
    await setActive(false); // keeps the favorite without its preview
    expect(await list()).toMatchObject([{ sound_id: first, sounds: null }]);
    await setActive(true);
    expect(await list()).toMatchObject([{ sound_id: first, sounds: { id: first } }]);
  });
});
