import { expect, inject } from 'vitest';
import { addCategory, addSection, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password } from '../../../test/support/test.ts';
import type { Filters } from '../src/catalogue.ts';
import { errorAnswer, faultsOf, test, withoutRepeats } from './device.ts';

test('list reads all pages, each page when it is needed', async ({ device, sql }) => {
  const category = await addCategory(sql);
  const ids = await addSounds(
    sql,
    Array.from({ length: 5 }, () => ({ category })),
  );
  const read: string[] = [];
  const pages: number[] = [];
  for await (const { id } of device.api.sounds.list({ category, limit: 2 })) {
    read.push(id);
    pages.push(device.sent.length);
  }
  expect(read.toSorted()).toEqual(ids.toSorted());
  expect(pages).toEqual([1, 1, 2, 2, 3]);

  const first = await device.api.sounds.page({ category, limit: 3 });
  const cursor = first.next_cursor ?? '';
  const second = await device.api.sounds.page({ category, limit: 3, cursor });
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(read);
  expect(second.next_cursor).toBeNull();
  const rest = await Array.fromAsync(device.api.sounds.list({ category, cursor }));
  expect(rest).toEqual(second.data);
});

test('page filters by ids and by several tags', async ({ device, sql }) => {
  const ids = await addSounds(sql, [{}, {}, {}]);
  await sql`update public.sounds set tags = '{deep,slow}' where id = ${ids[1] ?? null}`;
  const idsOf = async (filters: Filters) => (await device.api.sounds.page(filters)).data.map(({ id }) => id);
  expect(await idsOf({ ids })).toEqual(ids);
  expect(await idsOf({ tag: ['deep', 'slow'] })).toContain(ids[1]);
});

test('audio returns the expiry by the clock of the device, and a new address on request', async ({
  device,
  sql,
}) => {
  const silent = await addSound(sql);
  const audio = await device.api.sounds.audio(silent);
  expect(audio.url).toBeNull();
  const seconds = (audio.expiresAt.getTime() - Date.now()) / 1000;
  expect(seconds).toBeLessThanOrEqual(300);
  expect(seconds).toBeGreaterThan(100);

  const path = await storeFile('audio', `client/${silent}.wav`, 'audio/wav', 'RIFF');
  await sql`update public.sounds set audio_path = ${path} where id = ${silent}`;
  const renewed = await audio.renew();
  expect(await (await fetch(renewed.url ?? '')).text()).toBe('RIFF');
  expect(renewed.expiresAt.getTime()).toBeGreaterThan(audio.expiresAt.getTime());
});

test('files returns signed addresses and the versions of the copied catalogue', async ({ device, sql }) => {
  const silent = await addSound(sql);
  const id = await addSound(sql);
  const path = await storeFile('audio', `client/${id}.wav`, 'audio/wav', 'RIFF');
  await sql`update public.sounds set audio_path = ${path} where id = ${id}`;
  const files = await Array.fromAsync(device.api.sounds.files([id, silent]));
  expect(files).toMatchObject([
    { id, audio: { bytes: 4 }, cover: null },
    { id: silent, audio: null },
  ]);
  const audio = files[0]?.audio;
  expect(await (await fetch(audio?.url ?? '')).text()).toBe('RIFF');
  await device.api.offline.sync();
  expect(await device.api.offline.get(id)).toMatchObject({ audio_version: audio?.version });
});

test('files requests 60 sounds in two requests, the second one when it is needed', async ({
  device,
  sql,
}) => {
  const ids = await addSounds(
    sql,
    Array.from({ length: 60 }, () => ({})),
  );
  const requests: number[] = [];
  const read: string[] = [];
  for await (const { id } of device.api.sounds.files(ids)) {
    read.push(id);
    requests.push(device.sent.length);
  }
  expect(read).toEqual(ids);
  expect(requests).toEqual([...Array(50).fill(1), ...Array(10).fill(2)]);
});

test('coverUrl returns addresses also without a network at the next start', async ({ device, sql }) => {
  const { apiUrl } = inject('stack');
  const address = `${apiUrl}/storage/v1/object/public/covers/bowls/c4.jpg`;
  const category = await addCategory(sql);
  const [id = ''] = await addSounds(sql, [{ category, cover_image_path: 'bowls/c4.jpg' }]);
  await addSounds(sql, [{ category, sort_order: 1 }]);
  const { data } = await device.api.sounds.page({ category });
  expect(data.map(device.api.coverUrl)).toEqual([address, null]);
  await device.api.favorites.add(id);
  await device.api.favorites.flush();
  const [favorite] = await Array.fromAsync((await device.again()).favorites.list());
  expect(device.api.coverUrl(favorite?.sounds ?? { cover_image_url: null })).toBe(address);

  device.network.before = () => 'cut';
  const restarted = await device.again(withoutRepeats);
  expect(await restarted.config()).toMatchObject({
    sign_up: true,
    id_token_providers: expect.any(Array),
  });
  expect(data.map(restarted.coverUrl)).toEqual([address, null]);
});

test('a list is returned without covers when the config is missing', async ({ start, sql }) => {
  const category = await addCategory(sql);
  await addSounds(sql, [{ category, cover_image_path: 'bowls/c4.jpg' }]);
  const device = await start();
  device.network.before = faultsOf('GET /config', errorAnswer(404, 'not_found')); // a service of before
  await device.api.auth.signUp({ email: newEmail(), password });
  const { data } = await device.api.sounds.page({ category });
  expect(data.map(device.api.coverUrl)).toEqual([null]);
  await device.api.sounds.page({ category });
  expect(data.map(device.api.coverUrl)).toEqual([expect.stringContaining('covers/bowls/c4.jpg')]);
});

test('the home page and the records are read, and customer.update changes only the named fields', async ({
  start,
  sql,
}) => {
  const slug = await addSection(sql, { mode: 'rule', rule_type: 'newest' });
  const category = await addCategory(sql);
  const device = await start();
  expect((await device.api.categories()).map((each) => each.slug)).toContain(category);
  const { email, user } = await device.signUp();
  expect((await device.api.home()).map((section) => section.slug)).toContain(slug);
  expect(await device.api.me()).toMatchObject({ id: user.id, email });

  await device.api.customer.update({ full_name: 'Ada', country: 'gb' });
  const updated = await device.api.customer.update({ full_name: null, marketing_opt_in: true });
  expect(updated).toMatchObject({ full_name: null, country: 'GB', marketing_opt_in: true });
  expect(await device.api.customer.get()).toEqual(updated);
});
