import { expect, inject } from 'vitest';
import { addCategory, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password, type Sql } from '../../../test/support/test.ts';
import type { Filters } from '../src/catalogue.ts';
import { errorAnswer, faultsOf, test, withoutRepeats } from './device.ts';

/** Gives a sound a recording of four bytes. */
async function record(sql: Sql, id: string) {
  const path = await storeFile('audio', `client/${id}.wav`, 'audio/wav', 'RIFF');
  await sql`update public.sounds set audio_path = ${path} where id = ${id}`;
}

const textAt = async (url: string | null | undefined) => (await fetch(url ?? '')).text();

test('list requests each page when it is needed, and page filters by ids and tags', async ({ device, sql }) => {
  const category = await addCategory(sql);
  const ids = await addSounds(sql, Array(5).fill({ category }));
  const { page, list } = device.api.sounds;
  const read: string[] = [];
  const requests: number[] = [];
  for await (const { id } of list({ category, limit: 2 })) {
    read.push(id);
    requests.push(device.sent.length);
  }
  expect(read.toSorted()).toEqual(ids.toSorted());
  expect(requests).toEqual([1, 1, 2, 2, 3]);

  const first = await page({ category, limit: 3 });
  const rest = await Array.fromAsync(list({ category, cursor: first.next_cursor ?? '' }));
  expect([...first.data, ...rest].map(({ id }) => id)).toEqual(read);

  const tagged = ids[1] ?? '';
  await sql`update public.sounds set tags = '{deep,slow}' where id = ${tagged}`;
  const idsOf = async (filters: Filters) => (await page(filters)).data.map(({ id }) => id);
  expect(await idsOf({ ids })).toEqual(ids);
  expect(await idsOf({ category, tag: ['deep', 'slow'] })).toEqual([tagged]);
});

test('customer.update changes only the given fields', async ({ device: { api } }) => {
  await api.customer.update({ full_name: 'Ada', country: 'gb' });
  const updated = await api.customer.update({ full_name: null, marketing_opt_in: true });
  expect(updated).toMatchObject({ full_name: null, country: 'GB', marketing_opt_in: true });
  const { last_seen_at: _, ...stable } = updated; // updated in the background
  expect(await api.customer.get()).toMatchObject(stable);
});

test('audio returns an expiry on the clock of the device, and renew returns a new address', async ({ device, sql }) => {
  const id = await addSound(sql);
  const audio = await device.api.sounds.audio(id);
  expect(audio.url).toBeNull();
  const seconds = (audio.expiresAt.getTime() - Date.now()) / 1000;
  expect(seconds).toBeLessThanOrEqual(300);
  expect(seconds).toBeGreaterThan(100);

  await record(sql, id);
  const renewed = await audio.renew();
  expect(await textAt(renewed.url)).toBe('RIFF');
  expect(renewed.expiresAt.getTime()).toBeGreaterThan(audio.expiresAt.getTime());
});

test('files returns addresses and versions, and requests 50 at a time', async ({ device, sql }) => {
  const { sounds, offline } = device.api;
  const ids = await addSounds(sql, Array(51).fill({}));
  const [id = ''] = ids;
  await record(sql, id);
  const requests: number[] = [];
  const files = [];
  for await (const file of sounds.files(ids)) {
    files.push(file);
    requests.push(device.sent.length);
  }
  expect(requests).toEqual([...Array(50).fill(1), 2]);
  expect(files.map((file) => file.id)).toEqual(ids);
  expect(files.slice(0, 2)).toMatchObject([{ audio: { bytes: 4 }, cover: null }, { audio: null }]);
  const audio = files[0]?.audio;
  expect(await textAt(audio?.url)).toBe('RIFF');
  await offline.sync();
  expect(await offline.get(id)).toMatchObject({ audio_version: audio?.version });
});

test('coverUrl returns addresses after the config has been loaded, also offline', async ({ start, sql }) => {
  const address = `${inject('stack').apiUrl}/storage/v1/object/public/covers/bowls/c4.jpg`;
  const category = await addCategory(sql);
  const id = await addSound(sql, { category, cover_image_path: 'bowls/c4.jpg' });
  await addSound(sql, { category, sort_order: 1 });
  const device = await start();
  const { auth, sounds, favorites, coverUrl } = device.api;
  device.network.before = faultsOf('GET /config', errorAnswer(404, 'not_found')); // an older service has no config
  await auth.signUp({ email: newEmail(), password });
  const { data } = await sounds.page({ category });
  expect(data.map((sound) => coverUrl(sound))).toEqual([null, null]);
  await sounds.page({ category });
  expect(data.map((sound) => coverUrl(sound))).toEqual([address, null]);

  await favorites.add(id);
  await favorites.flush();
  const restarted = device.again();
  const [favorite] = await Array.fromAsync(restarted.favorites.list());
  expect(restarted.coverUrl(favorite?.sounds ?? { cover_image_url: null })).toBe(address);

  device.network.before = () => 'cut';
  const offline = device.again(withoutRepeats);
  expect(await offline.config()).toMatchObject({ sign_up: true, id_token_providers: expect.any(Array) });
  expect(data.map((sound) => offline.coverUrl(sound))).toEqual([address, null]);
});

test('coverUrl returns the last known address after a start without a network, also a small one', async ({ start }) => {
  const files = `${inject('stack').apiUrl}/storage/v1/object/public/`;
  const device = await start();
  await device.signUp();
  const { api, network } = device;
  const cover = { cover_image_url: 'covers/bowls/c4 $&.jpg' };
  const small = { small: true };
  expect(api.coverUrl(cover, small)).toBe(`${files}${cover.cover_image_url}.256.webp`);
  const signed = { cover_image_url: 'https://host/cover?token=1' };
  expect(api.coverUrl(signed, small)).toBe(signed.cover_image_url);
  network.before = () => 'cut';
  const restarted = device.again(withoutRepeats);
  await restarted.offline.favorites();
  expect(restarted.coverUrl(cover)).toBe(files + cover.cover_image_url);

  const template = 'https://host/render/{path}?width={size}&height={size}';
  const cover_sizes = { template, sizes: [128, 256, 512] };
  for (const [sizes, address] of [
    [cover_sizes, `https://host/render/${cover.cover_image_url}?width=256&height=256`],
    [undefined, `https://host/${cover.cover_image_url}`],
  ] as const) {
    device.store.items.set('sounds.config', JSON.stringify({ storage_url: 'https://host/', cover_sizes: sizes }));
    const another = device.again(withoutRepeats);
    await another.offline.list();
    expect(another.coverUrl(cover, small)).toBe(address);
  }
  device.store.items.set('sounds.config', '{}');
  const garbage = device.again(withoutRepeats);
  await garbage.offline.list();
  expect(garbage.coverUrl(cover)).toBeNull();
});
