import { expect, inject } from 'vitest';
import { addCategory, addSound, addSounds } from '../../../test/support/catalogue.ts';
import { storeFile } from '../../../test/support/files.ts';
import { newEmail, password, type Sql } from '../../../test/support/test.ts';
import { errorAnswer, faultsOf, test, withoutRepeats } from './device.ts';

/** Gives a sound a recording of four bytes. */
async function record(sql: Sql, id: string) {
  const path = await storeFile('audio', `client/${id}.wav`, 'audio/wav', 'RIFF');
  await sql`update public.sounds set audio_path = ${path} where id = ${id}`;
}

const textAt = async (url: string | null | undefined) => (await fetch(url ?? '')).text();

test('list requests each page when it is needed, from a cursor if there is one', async ({ device, sql }) => {
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

test('coverUrl returns addresses once the config is known, also small ones and without a network', async ({
  start,
}) => {
  const files = `${inject('stack').apiUrl}/storage/v1/object/public/`;
  const cover = { cover_image_url: 'covers/bowls/c4 $&.jpg' };
  const small = { small: true };
  const device = await start();
  const { auth, sounds, coverUrl } = device.api;
  device.network.before = faultsOf('GET /config', errorAnswer(404, 'not_found')); // an older service has no config
  await auth.signUp({ email: newEmail(), password });
  await sounds.page();
  expect(coverUrl(cover)).toBeNull();
  await sounds.page();
  expect(coverUrl(cover)).toBe(files + cover.cover_image_url);
  expect(coverUrl({ cover_image_url: null })).toBeNull();
  expect(coverUrl(cover, small)).toBe(`${files}${cover.cover_image_url}.256.webp`);
  const signed = { cover_image_url: 'https://host/cover?token=1' };
  expect(coverUrl(signed, small)).toBe(signed.cover_image_url);

  device.network.before = () => 'cut';
  expect(await device.again(withoutRepeats).config()).toMatchObject({
    sign_up: true,
    id_token_providers: expect.any(Array),
  });
  /** Returns the address of the cover after a start without a network. */
  const restarted = async (config?: object) => {
    if (config) device.store.items.set('sounds.config', JSON.stringify(config));
    const { offline, coverUrl } = device.again(withoutRepeats);
    await offline.list();
    return coverUrl(cover, small);
  };
  expect(await restarted()).toBe(`${files}${cover.cover_image_url}.256.webp`);
  const template = 'https://host/render/{path}?width={size}&height={size}';
  const sized = { storage_url: 'https://host/', cover_sizes: { template, sizes: [128, 256, 512] } };
  expect(await restarted(sized)).toBe(`https://host/render/${cover.cover_image_url}?width=256&height=256`);
  expect(await restarted({ storage_url: 'https://host/' })).toBe(`https://host/${cover.cover_image_url}`);
  expect(await restarted({})).toBeNull();
});
