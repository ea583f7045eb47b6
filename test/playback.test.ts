import { spawnSync } from 'node:child_process';
import sharp from 'sharp';
import { beforeAll, describe, expect, inject } from 'vitest';
import { AUDIO_RECIPES, makeAudio } from '../dev/seed/audio-recipes.ts';
import { COVER_RECIPES, makeCover } from '../dev/seed/cover-recipes.ts';
import { bearer } from './support/api.ts';
import { addSound } from './support/catalogue.ts';
import { test } from './support/test.ts';

const ffmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

async function store(bucket: string, path: string, contentType: string, content: Buffer) {
  const { apiUrl, secretKey } = inject('stack');
  const response = await fetch(`${apiUrl}/storage/v1/object/${bucket}/${path}`, {
    method: 'POST',
    headers: {
      apikey: secretKey,
      Authorization: `Bearer ${secretKey}`,
      'Content-Type': contentType,
      'x-upsert': 'true',
    },
    body: new Uint8Array(content),
  });
  expect(response.status).toBe(200);
}

/** Decodes audio as a player does; returns how long it plays, in seconds. Fails on the first decoding error. */
function playedSeconds(bytes: Uint8Array, sampleRate = 8000): number {
  const args = '-v error -xerror -i pipe:0 -f s16le -ac 1 -ar'.split(' ');
  const { status, stdout, stderr } = spawnSync('ffmpeg', [...args, String(sampleRate), 'pipe:1'], {
    input: bytes,
    maxBuffer: 2 ** 26,
  });
  expect(stderr.toString()).toBe('');
  expect(status).toBe(0);
  return stdout.length / 2 / sampleRate;
}

describe('a new listener', () => {
  const [audioPath = '', coverPath = ''] = [Object.keys(AUDIO_RECIPES)[0], Object.keys(COVER_RECIPES)[0]];
  const audio = makeAudio(audioPath);
  // The header of a WAV file says how many bytes a second has (offset 28) and how many there are (offset 40).
  const durationSec = audio.readUInt32LE(40) / audio.readUInt32LE(28);

  beforeAll(async () => {
    await store('audio', audioPath, 'audio/wav', audio);
    await store('covers', coverPath, 'image/jpeg', await makeCover(coverPath));
  });

  test('gets the cover as an image that a browser shows, signed and public', async ({ api, sql, user }) => {
    const id = await addSound(sql, { cover_image_path: coverPath });
    const { body } = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
    for (const url of [
      body.data.cover_image_url,
      `${inject('stack').apiUrl}/storage/v1/object/public/covers/${coverPath}`,
    ]) {
      const response = await fetch(url);
      expect(response.headers.get('content-type')).toBe('image/jpeg');
      const image = await sharp(await response.arrayBuffer()).metadata();
      expect(image).toMatchObject({ format: 'jpeg', width: 800, height: 800 });
    }
  });

  test('hears audio of exactly the stated duration, from the start or from the middle', async ({
    skip,
    api,
    sql,
    user,
  }) => {
    skip(!ffmpeg, 'Install ffmpeg to decode audio.');
    const id = await addSound(sql, { audio_path: audioPath, duration_sec: durationSec });
    const { body } = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
    const whole = await fetch(body.data.audio_url);
    expect(whole.headers.get('content-type')).toBe('audio/wav');
    const bytes = await whole.bytes();
    expect(playedSeconds(bytes)).toBeCloseTo(body.data.duration_sec, 2);

    // A player that seeks keeps the beginning it has and asks for the rest.
    const half = 44 + Math.floor((bytes.length - 44) / 4) * 2;
    const rest = await fetch(body.data.audio_url, { headers: { Range: `bytes=${half}-` } });
    expect(rest.status).toBe(206);
    expect(Buffer.concat([bytes.subarray(0, half), await rest.bytes()]).equals(bytes)).toBe(true);
  });
});
