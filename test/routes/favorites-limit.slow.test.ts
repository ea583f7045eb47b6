import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { addCategory, newMoment } from '../support/catalogue.ts';
import { newUser, test } from '../support/test.ts';

// Belongs to the slow tier, because each copy of the catalogue in another test would contain its sounds.
test('a user can have at most 5,000 favorites, added at once or adopted from a guest', async ({ gateway, sql }) => {
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
  const oneMore = sql`insert into public.favorites (user_id, sound_id) select ${user.id}, id
    from unnest(${sounds}::uuid[]) as id on conflict do nothing`;
  await expect(oneMore).rejects.toMatchObject({ code: '23514', message: 'A user has at most 5,000 favorites.' });
  const { body, headers } = await app.get('/favorites');
  expect(body.data).toHaveLength(5000);
  await app
    .get('/favorites')
    .set('If-None-Match', headers['etag'] ?? '')
    .expect(304);

  // One place is left for three favorites of a guest.
  const [kept, ...others] = (await sql`select sound_id from public.favorites where user_id = ${user.id}`).map(
    ({ sound_id }) => sound_id,
  );
  await app.delete(`/favorites/${kept}`).expect(200);
  const ofGuest = sounds.filter((id) => !others.includes(id)).slice(0, 3);
  const guest = randomUUID();
  await sql`insert into private.guests_allowed default values on conflict (is_allowed) do nothing`;
  await sql`insert into auth.users (id, is_anonymous) values (${guest}, true)`;
  await sql`
    insert into public.favorites (user_id, sound_id, created_at)
    select ${guest}, id, now() - place * interval '1 day'
    from unnest(${ofGuest}::uuid[]) with ordinality as given (id, place)`;
  await sql`select public.adopt_guest(${guest}, ${user.id})`;
  const rest =
    await sql`select sound_id from public.favorites where user_id = ${user.id} and sound_id <> all (${others})`;
  expect(rest).toEqual([{ sound_id: ofGuest[0] }]);
});
