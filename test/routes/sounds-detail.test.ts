import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { addCategory, addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { clientWith, test } from '../support/test.ts';

const addAudio = (content = 'the audio') =>
  storeFile('audio', `${randomUUID()}/take-1.wav`, 'audio/wav', content);

describe('GET /sounds/{id}', () => {
  test('returns the Sound with audio and cover signed for 300 seconds', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const audio_path = await addAudio();
    const cover_image_path = await storeFile('covers', `${randomUUID()}.jpg`, 'image/jpeg', 'the cover');
    const id = await addSound(sql, { category, audio_path, cover_image_path });

    const { body } = await app
      .get(`/sounds/${id.toUpperCase()}`)
      .set('If-None-Match', '*') // what must not be kept is not revalidated
      .expect(200)
      .expect('Cache-Control', 'no-store');
    const list = await app.get('/sounds').query({ category });
    expect(body.data).toEqual({
      ...list.body.data[0],
      cover_image_url: expect.any(String),
      audio_url: expect.any(String),
      audio_url_expires_in: 300,
    });
    const url: string = body.data.audio_url;
    for (const [address, content] of [
      [url, 'the audio'],
      [body.data.cover_image_url, 'the cover'],
    ] as const) {
      const { exp = 0, iat = 0 } = decodeJwt(new URL(address).searchParams.get('token') ?? '');
      expect(exp - iat).toBe(300);
      expect(await (await fetch(address)).text()).toBe(content);
    }
    const other = await addAudio('other audio');
    for (const forged of [url.split('?')[0] ?? '', url.replace(audio_path, other), `${url}x`])
      expect((await fetch(forged)).status, forged).toBe(400);
  });

  test('addresses of files, also of many sounds, are at SUPABASE_PUBLIC_URL', async ({ sql, user }) => {
    const gateway = await startGateway({ SUPABASE_PUBLIC_URL: 'https://files.example.com' });
    const app = clientWith(gateway, user.access_token);
    const id = await addSound(sql, { audio_path: await addAudio() });
    const detail = await app.get(`/sounds/${id}`).expect(200);
    const files = await app.post('/sounds/files').send({ ids: [id] });
    for (const url of [detail.body.data.audio_url, files.body.data[0].audio.url])
      expect(url).toMatch(/^https:\/\/files\.example\.com\/storage\/v1\/object\/sign\/audio\//);
    await gateway.close();
  });

  test('a missing file gets a null address and a line in the log', async ({ app, gateway, sql }) => {
    const id = await addSound(sql, { audio_path: 'not/there.wav', cover_image_path: 'not-there.jpg' });
    const { body } = await app.get(`/sounds/${id}`).expect(200);
    expect(body.data).toMatchObject({ audio_url: null, cover_image_url: null, audio_url_expires_in: 300 });
    expect(gateway.logged.some((line) => line.includes('not/there.wav'))).toBe(true);
  });

  test('inactive sounds and malformed ids get 404', async ({ app, sql }) => {
    const inactive = await addSound(sql, { is_active: false });
    for (const id of [inactive, '%00', '%zz', `${inactive}0`, '💥']) {
      await app.get(`/sounds/${id}`).expect(404);
      await app.post(`/sounds/${id}/play`).expect(404);
    }
  });
});
