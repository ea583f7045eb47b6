import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { addSound, addSounds } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { clientWith, type Sql, test } from '../support/test.ts';

/** Adds a sound with both files. */
async function addRecording(sql: Sql) {
  const name = randomUUID();
  const audio_path = await storeFile('audio', `${name}/take-1.mp3`, 'audio/mpeg', 'some audio');
  const cover_image_path = await storeFile('covers', `${name}.png`, 'image/png', 'a cover');
  return { audio_path, id: await addSound(sql, { audio_path, cover_image_path, cover_placeholder, ...facts }) };
}

const cover_placeholder = 'k7kMBYA3eYiAd4iAiA==';
const facts = { loudness_lufs: -23.4, true_peak_dbtp: 0.3, waveform: Array<number>(200).fill(50) };

const contentOf = async (url: string) => (await fetch(url)).text();

describe('GET /sounds/{id}', () => {
  test('contains no facts about an earlier file of the sound', async ({ app, sql }) => {
    const { id } = await addRecording(sql);
    const change = async (row: object) => {
      await sql`update public.sounds set ${sql(row)} where id = ${id}`;
      return (await app.get(`/sounds/${id}`).expect(200)).body.data;
    };
    const none = { loudness_lufs: null, true_peak_dbtp: null, waveform: null };
    expect(await change({ title: 'Renamed' })).toMatchObject({ ...facts, cover_placeholder });
    expect(await change({ audio_path: 'another.mp3' })).toMatchObject({ ...none, cover_placeholder });
    expect(await change({ cover_image_path: 'another.png', ...facts })).toMatchObject({
      ...facts,
      cover_placeholder: null,
    });
    // Facts that are set together with the file stay, also if the last file had the same.
    expect(await change({ audio_path: 'third.mp3', ...facts })).toMatchObject(facts);
    await sql.begin(async (transaction) => {
      await transaction`update public.sounds set ${sql(facts)} where id = ${id}`;
      await transaction`update public.sounds set audio_path = 'fourth.mp3' where id = ${id}`;
    });
    expect(await change({ title: 'Renamed' })).toMatchObject(none);
  });

  test('returns the Sound with audio and cover signed for 300 seconds', async ({ app, sql }) => {
    const { id } = await addRecording(sql);
    const { body } = await app
      .get(`/sounds/${id.toUpperCase()}`)
      .set('If-None-Match', '*') // a response that must not be stored cannot be revalidated
      .expect(200);
    const { audio_url, cover_image_url } = body.data;
    const list = await app.get('/sounds').query({ ids: id });
    const urls = { audio_url, cover_image_url, audio_url_expires_in: 300 };
    expect(body.data).toEqual({ ...list.body.data[0], ...urls, ...facts, is_locked: false });
    expect([await contentOf(audio_url), await contentOf(cover_image_url)]).toEqual(['some audio', 'a cover']);
    for (const url of [audio_url, cover_image_url]) {
      const { exp = 0, iat = 0 } = decodeJwt(new URL(url).searchParams.get('token') ?? '');
      expect(exp - iat).toBe(300);
    }
  });
});

describe('POST /sounds/files', () => {
  test('signs the files of each sound, and returns their properties', async ({ app, sql }) => {
    const { id, audio_path } = await addRecording(sql);
    const filesOf = async () => (await app.post('/sounds/files').send({ ids: [id] })).body.data[0];
    const before = Math.floor(Date.now() / 1000);
    const { audio, cover } = await filesOf();
    const after = Date.now() / 1000;
    const more = { url: expect.any(String), expires_at: expect.any(Number), version: expect.any(String) };
    expect(audio).toEqual({ ...more, content_type: 'audio/mpeg', bytes: 10 });
    expect(cover).toEqual({ ...more, content_type: 'image/png', bytes: 7 });
    expect(audio.expires_at).toBeGreaterThanOrEqual(before + 300);
    expect(audio.expires_at).toBeLessThanOrEqual(after + 300);
    expect([await contentOf(audio.url), await contentOf(cover.url)]).toEqual(['some audio', 'a cover']);

    expect((await filesOf()).audio.version).toBe(audio.version);
    await storeFile('audio', audio_path, 'audio/mpeg', 'second take');
    expect((await filesOf()).audio.version).not.toBe(audio.version);
  });

  test('keeps the order, and returns null for a missing file and logs it', async ({ app, gateway, sql }) => {
    const missing = { audio_path: `${randomUUID()}.mp3`, cover_image_path: `${randomUUID()}.jpg` };
    const [bare, hidden, lost] = await addSounds(sql, [{}, { is_active: false, ...missing }, missing]);
    const { id: whole } = await addRecording(sql);
    const ids = [lost, whole, hidden, randomUUID(), bare, whole];
    const { body } = await app.post('/sounds/files').send({ ids }).expect(200);
    const [none, some, is_locked] = [null, expect.any(Object), false];
    expect(body.data).toEqual([
      { id: lost, audio: none, cover: none, is_locked },
      { id: whole, audio: some, cover: some, is_locked },
      { id: bare, audio: none, cover: none, is_locked },
    ]);
    const detail = await app.get(`/sounds/${lost}`).expect(200);
    const noUrls = { audio_url: null, cover_image_url: null, audio_url_expires_in: 300 };
    expect(detail.body.data).toMatchObject(noUrls);
    expect(gateway.logged.some((line) => line.includes(missing.audio_path))).toBe(true);
  });
});

test('signed URLs begin with SUPABASE_PUBLIC_URL, and take one call to Storage per bucket', async ({ sql, user }) => {
  const gateway = await startGateway({ METRICS_PORT: '0', SUPABASE_PUBLIC_URL: 'https://files.example.com' });
  const app = clientWith(gateway, user.access_token);
  const calls = async () =>
    valuesOf(await scrape(gateway), 'sounds_upstream_request_duration_seconds_count')['storage ok'];
  const ids = [(await addRecording(sql)).id, (await addRecording(sql)).id];
  const { body } = await app.post('/sounds/files').send({ ids }).expect(200);
  await expect.poll(calls).toBe(2);
  const detail = await app.get(`/sounds/${ids[0]}`).expect(200);
  for (const url of [detail.body.data.audio_url, body.data[1].audio.url])
    expect(url).toMatch(/^https:\/\/files\.example\.com\/storage\/v1\/object\/sign\/audio\//);
  await gateway.close();
});
