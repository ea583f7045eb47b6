import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { addCategory, newMoment } from '../support/catalogue.ts';
import { newUser, test } from '../support/test.ts';

// Belongs to the slow tier, because each copy of the catalogue in another test would contain its sounds.
test('a user can have at most 5,000 favorites, also if they are added at once', async ({ gateway, sql }) => {
  const { app, user } = await newUser(gateway);
  const category = await addCategory(sql);
  await sql`
    insert into public.sounds (title, category, created_at)
    select 'Many', ${category}, ${newMoment()}::timestamptz + n * interval '1 ms' from generate_series(1, 5004) as n`;
  const sounds = (await sql`select id from public.sounds where category = ${category}`).map(({ id }) => id);
  await sql`
    insert into public.favorites (user_id, sound_id)
    select ${user.id}, id from unnest(${sounds.slice(0, 4998)}::uuid[]) as id`;
  const add = (sound_id: string) => app.post('/favorites').send({ sound_id });
  const answers = await Promise.all(sounds.slice(4998).map((id) => add(id)));
  const rejected = answers.filter(({ status }) => status !== 201);
  expect(rejected.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(rejected[0]?.headers['x-error-reason']).toBe('too_many_favorites');
  await add(sounds[0]).expect(201); // is already a favorite
  await add(randomUUID()).expect(404);
  const { body, headers } = await app.get('/favorites');
  expect(body.data).toHaveLength(5000);
  await app
    .get('/favorites')
    .set('If-None-Match', headers['etag'] ?? '')
    .expect(304);
});
