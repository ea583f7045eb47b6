import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { test } from '../support/test.ts';

const ffmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

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

const sample = (path: string) => readFile(`supabase/samples/${path}`);

describe('a new listener', () => {
  // Path, type and duration in the sample catalogue.
  const recordings = [
    ['metal/garden-wind-chimes.m4a', 'audio/mp4', 20],
    ['noise/brown-noise.mp3', 'audio/mpeg', 30],
    ['bowls/a4-small-singing-bowl.wav', 'audio/wav', 24.5],
  ] as const;
  const coverPath = 'bowls/c4-singing-bowl.jpg';

  beforeAll(async () => {
    for (const [path, type] of recordings)
      await storeFile('audio', path, type, await sample(`audio/${path}`));
    await storeFile('covers', coverPath, 'image/jpeg', await sample(`covers/${coverPath}`));
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
      expect(Buffer.from(await response.arrayBuffer()).equals(await sample(`covers/${coverPath}`))).toBe(
        true,
      );
    }
  });

  test.for(recordings)(
    'hears %s to its stated end, from the start or from the middle',
    async ([path, type, durationSec], { skip, api, sql, user }) => {
      skip(!ffmpeg, 'Install ffmpeg to decode audio.');
      const id = await addSound(sql, { audio_path: path, duration_sec: durationSec });
      const { body } = await api.get(`/sounds/${id}`).auth(user.access_token, bearer);
      const whole = await fetch(body.data.audio_url);
      expect(whole.headers.get('content-type')).toBe(type);
      const bytes = await whole.bytes();
      expect(Math.abs(playedSeconds(bytes) - body.data.duration_sec)).toBeLessThan(0.1);

      // A player that seeks keeps the beginning it has and asks for the rest.
      const half = Math.floor(bytes.length / 2);
      const rest = await fetch(body.data.audio_url, { headers: { Range: `bytes=${half}-` } });
      expect(rest.status).toBe(206);
      expect(Buffer.concat([bytes.subarray(0, half), await rest.bytes()]).equals(bytes)).toBe(true);
    },
  );
});
