import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { test } from '../support/test.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;

/** Decodes audio as a player does; returns how long it plays, in seconds. Fails on the first decoding error. */
function playedSeconds(input: Uint8Array): number {
  const sampleRate = 8000;
  const args = `-v error -xerror -i pipe:0 -f s16le -ac 1 -ar ${sampleRate} pipe:1`.split(' ');
  const { status, stdout, stderr } = spawnSync('ffmpeg', args, { input, maxBuffer: 2 ** 26 });
  expect([status, stderr.toString()]).toEqual([0, '']);
  return stdout.length / 2 / sampleRate;
}

test.for([
  ['metal/garden-wind-chimes.m4a', 'audio/mp4', 20],
  ['noise/brown-noise.mp3', 'audio/mpeg', 30],
  ['bowls/a4-small-singing-bowl.wav', 'audio/wav', 24.5],
] as const)(
  'a listener hears the sample %s to its end, also from the middle',
  async ([path, type, seconds], { app, skip, sql }) => {
    skip(!hasFfmpeg, 'Install ffmpeg to decode audio.');
    const audio_path = await storeFile('audio', path, type, await readFile(`supabase/samples/audio/${path}`));
    const { body } = await app.get(`/sounds/${await addSound(sql, { audio_path })}`).expect(200);
    const whole = await fetch(body.data.audio_url);
    expect(whole.headers.get('content-type')).toBe(type);
    const bytes = await whole.bytes();
    expect(Math.abs(playedSeconds(bytes) - seconds)).toBeLessThan(0.1);

    // A player that seeks keeps the beginning it has and asks for the rest.
    const half = Math.floor(bytes.length / 2);
    const rest = await fetch(body.data.audio_url, { headers: { Range: `bytes=${half}-` } });
    expect(rest.status).toBe(206);
    expect(Buffer.concat([bytes.subarray(0, half), await rest.bytes()]).equals(bytes)).toBe(true);
  },
);
