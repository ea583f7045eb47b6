import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSounds, barePreview } from '../support/catalogue.ts';
import { clientWith, issueKey, newUser, test } from '../support/test.ts';

// supabase/tests/21_mixes_and_playlists.test.sql has the rules of saving.

const item = (sound_id: string, volume: number | null = null) => ({ sound_id, volume });
const listOf = (fields: object = {}) => ({
  ...{ id: randomUUID(), name: 'Night', is_mix: false, items: [], version: 0 },
  ...fields,
});
const put = (app: Api, ...lists: object[]) => app.put('/lists').send({ lists });

test('saves lists and returns them with previews, newest change first', async ({ gateway, sql }) => {
  const { app } = await newUser(gateway);
  const rows = [{ title: 'Rain', is_premium: true }, { title: 'Hidden' }];
  const [rain = '', hidden = ''] = await addSounds(sql, rows);
  await sql`update public.sounds set is_active = false where id = ${hidden}`;
  const mix = listOf({
    name: ' Night\u3000',
    is_mix: true,
    items: [{ sound_id: hidden.toUpperCase() }, item(rain, 0.4)],
  });
  const first = await put(app, mix).expect(200);
  const items = [
    { ...item(hidden), sounds: null },
    { ...item(rain, 0.4), sounds: { ...barePreview, id: rain, title: 'Rain', is_premium: true } },
  ];
  const saved = { ...mix, name: 'Night', items, version: 1, updated_at: expect.stringMatching(/\.\d{3}Z$/) };
  expect(first.body).toEqual({ data: [{ id: mix.id, status: 'saved', list: saved }] });

  const playlist = listOf({ name: 'Morning' });
  const unknown = listOf({ version: 3 });
  const { body } = await put(app, { ...mix, name: 'Late' }, playlist, unknown).expect(200);
  expect(body.data).toMatchObject([
    { id: mix.id, status: 'changed', list: { name: 'Night', version: 1 } },
    { id: playlist.id, status: 'saved', list: { name: 'Morning', version: 1 } },
    { id: unknown.id, status: 'deleted', list: null },
  ]);

  const all = await app.get('/lists').expect(200);
  expect(all.body).toEqual({ data: [body.data[1].list, saved] });
  await app
    .get('/lists')
    .set('If-None-Match', all.get('ETag') as string)
    .expect(304);
  await put(app, { ...playlist, items: null, version: 1 }).expect(200, {
    data: [{ id: playlist.id, status: 'saved', list: null }],
  });
  expect(
    (
      await app
        .get('/lists')
        .set('If-None-Match', all.get('ETag') as string)
        .expect(200)
    ).body.data,
  ).toHaveLength(1);
});

test('names the place of a wrong value, and saves nothing then', async ({ gateway, sql }) => {
  const { app } = await newUser(gateway);
  const [id = ''] = await addSounds(sql, [{}]);
  const twentyOne = Array.from({ length: 21 }, () => item(randomUUID()));
  for (const [list, message] of [
    [{ items: [item(id, 1.1)] }, 'lists.1.items.0.volume: must be a number from 0 to 1, or null.'],
    [{ items: [{ ...item(id), pan: 1 }] }, 'lists.1.items.0.pan: cannot be set here.'],
    [{ items: [item(id), item(id)] }, 'lists.1.items: must hold each sound once.'],
    [{ items: twentyOne, is_mix: true }, 'lists.1.items: must hold at most 20 items in a mix.'],
    [{ name: 'a\nb' }, 'lists.1.name: must have no line ends, tabs or other control characters.'],
  ] as const) {
    const rejected = await put(app, listOf(), listOf(list)).expect(400).expect('X-Error-Field', 'lists');
    expect(rejected.body.error).toEqual({ code: 'invalid_request', message });
  }
  await app.get('/lists').expect(200, { data: [] });
});

test('takes 1,000 items in a body of up to 128 KB', async ({ gateway, sql }) => {
  const { app } = await newUser(gateway);
  const ids = await addSounds(sql, Array(200).fill({}));
  const lists = Array.from({ length: 5 }, () => listOf({ items: ids.map((id) => item(id, 0.123)) }));
  const { body } = await put(app, ...lists).expect(200);
  expect(body.data.map(({ list }: { list: { items: object[] } }) => list.items.length)).toEqual(Array(5).fill(200));
  const padded = (bytes: number) => ({ ...listOf(), note: 'x'.repeat(bytes) });
  await put(app, padded(130_000)).expect(200);
  await put(app, padded(132_000)).expect(400).expect('X-Error-Reason', 'too_large');
});

test('users and API keys of their owner share lists, which no other user gets', async ({ gateway, sql }) => {
  const [mine, other] = [await newUser(gateway), await newUser(gateway)];
  const partner = clientWith(gateway, await issueKey(sql, mine));
  const list = listOf();
  await put(mine.app, list).expect(200);
  await put(other.app, { ...list, name: 'Theirs' }).expect(200);
  const edited = await put(partner, { ...list, name: 'Edited', version: 1 }).expect(200);
  expect(edited.body.data).toMatchObject([{ status: 'saved', list: { name: 'Edited', version: 2 } }]);
  for (const app of [mine.app, partner])
    expect((await app.get('/lists').expect(200)).body.data).toEqual([edited.body.data[0].list]);
  expect((await other.app.get('/lists').expect(200)).body.data).toMatchObject([{ name: 'Theirs', version: 1 }]);
});

test('exactly one of two concurrent requests for the 200th list is saved', async ({ gateway, sql }) => {
  const { app, user } = await newUser(gateway);
  await sql`
    insert into public.lists (user_id, id, name, is_mix, items)
    select ${user.id}, gen_random_uuid(), 'Night', false, '[]' from generate_series(1, 199)`;
  const answers = await Promise.all([listOf(), listOf()].map(async (list) => put(app, list).expect(200)));
  expect(answers.map(({ body }) => body.data[0].status).sort()).toEqual(['saved', 'too_many']);
});
