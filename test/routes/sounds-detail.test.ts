import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { apiAt, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

describe('GET /sounds/{id}', () => {
  test('returns the Sound with audio and cover signed for 300 seconds', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const name = randomUUID();
    const audio_path = await storeFile('audio', `${name}/take-1.wav`, 'audio/wav', 'the audio');
    const cover_image_path = await storeFile('covers', `${name}.jpg`, 'image/jpeg', 'the cover');
    const id = await addSound(sql, { category, audio_path, cover_image_path });

    const { body } = await api
      .get(`/sounds/${id}`)
      .auth(user.access_token, bearer)
      .set('If-None-Match', '*') // what must not be kept is not revalidated
      .expect(200)
      .expect('Cache-Control', 'no-store');
    const list = await api.get('/sounds').query({ category }).auth(user.access_token, bearer);
    expect(body.data).toEqual({
      ...list.body.data[0],
      cover_image_url: expect.any(String),
      audio_url: expect.any(String),
      audio_url_expires_in: 300,
    });
    for (const [url, content] of [
      [body.data.audio_url, 'the audio'],
      [body.data.cover_image_url, 'the cover'],
    ] as const) {
      const claims = decodeJwt(new URL(url).searchParams.get('token') ?? '');
      expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(300);
      expect(await (await fetch(url)).text()).toBe(content);
    }
  });

  test('addresses of files, also of many sounds, are at SUPABASE_PUBLIC_URL', async ({ sql, user }) => {
    const gateway = await startGateway({ SUPABASE_PUBLIC_URL: 'https://files.example.com' });
    const audio_path = await storeFile('audio', `${randomUUID()}.wav`, 'audio/wav', 'the audio');
    const id = await addSound(sql, { audio_path });
    const api = apiAt(gateway.url);
    const detail = await api.get(`/sounds/${id}`).auth(user.access_token, bearer).expect(200);
    const files = await api
      .post('/sounds/files')
      .auth(user.access_token, bearer)
      .send({ ids: [id] });
    for (const url of [detail.body.data.audio_url, files.body.data[0].audio.url])
      expect(url).toMatch(/^https:\/\/files\.example\.com\/storage\/v1\/object\/sign\/audio\//);
    await gateway.close();
  });

  test('a missing file gets a null address and a line in the log', async ({ api, gateway, sql, user }) => {
    const id = await addSound(sql, { audio_path: 'not/there.wav', cover_image_path: 'not-there.jpg' });
    const { body } = await api.get(`/sounds/${id}`).auth(user.access_token, bearer).expect(200);
    expect(body.data).toMatchObject({ audio_url: null, cover_image_url: null, audio_url_expires_in: 300 });
    expect(gateway.logged.some((line) => line.includes('not/there.wav'))).toBe(true);
  });

  test('inactive sounds and malformed ids get 404', async ({ api, sql, user }) => {
    const inactive = await addSound(sql, { is_active: false });
    for (const id of [inactive, '%00', '%zz', '1', `${inactive}0`, '💥']) {
      await api.get(`/sounds/${id}`).auth(user.access_token, bearer).expect(404);
      await api.post(`/sounds/${id}/play`).auth(user.access_token, bearer).expect(404);
    }
  });

  test('an id is found in upper case too, and returned in lower case', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const { body } = await api.get(`/sounds/${id.toUpperCase()}`).auth(user.access_token, bearer);
    expect(body.data.id).toBe(id);
  });
});

describe('an audio address', () => {
  test('an audio address serves nothing without its own token', async ({ api, sql, user }) => {
    const audio_path = await storeFile('audio', `${randomUUID()}.wav`, 'audio/wav', 'the audio');
    const other = await storeFile('audio', `${randomUUID()}.wav`, 'audio/wav', 'other audio');
    const id = await addSound(sql, { audio_path });
    const { body } = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
    const url: string = body.data.audio_url;
    for (const forged of [url.split('?')[0] ?? '', url.replace(audio_path, other), `${url}x`]) {
      expect((await fetch(forged)).status, forged).toBe(400);
    }
  });
});
