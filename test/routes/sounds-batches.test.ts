import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { type Session, type Sql, test } from '../support/test.ts';

describe('GET /sounds?ids=', () => {
  test('returns each active sound once, in the requested order', async ({ api, sql, user }) => {
    const [first, hidden, last] = (await addSounds(sql, [{}, { is_active: false }, {}])) as [
      string,
      string,
      string,
    ];
    const ids = [last, randomUUID(), hidden, first.toUpperCase(), last].join();
    const { body } = await api.get('/sounds').query({ ids }).auth(user.access_token, bearer).expect(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([last, first]);
    expect(body.next_cursor).toBeNull();
    const repeated = { ids: [last, first] };
    const again = await api.get('/sounds').query(repeated).auth(user.access_token, bearer).expect(200);
    expect(again.body).toEqual(body);
  });

  test('gives 100 at once', async ({ api, sql, user }) => {
    const ids = (
      await addSounds(
        sql,
        Array.from({ length: 100 }, () => ({})),
      )
    ).reverse();
    const { body } = await api.get(`/sounds?ids=${ids}`).auth(user.access_token, bearer).expect(200);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
  });
});

const filesOf = (api: Api, user: Session, ids: string[]) =>
  api.post('/sounds/files').auth(user.access_token, bearer).send({ ids }).expect(200);

/** A sound with both files. */
async function addRecording(sql: Sql, audio = 'audio', cover = 'cover') {
  const name = randomUUID();
  await storeFile('audio', `${name}.mp3`, 'audio/mpeg', audio);
  await storeFile('covers', `${name}.png`, 'image/png', cover);
  return addSound(sql, { audio_path: `${name}.mp3`, cover_image_path: `${name}.png` });
}

describe('POST /sounds/files', () => {
  test('signs the audio and the cover of each sound, and says what they are', async ({ api, sql, user }) => {
    const id = await addRecording(sql, 'some audio', 'a cover');
    const before = Date.now() / 1000;
    const { body } = await filesOf(api, user, [id]);
    const after = Date.now() / 1000;
    const file = { url: expect.any(String), expires_at: expect.any(Number), version: expect.any(String) };
    expect(body).toEqual({
      data: [
        {
          id,
          audio: { ...file, content_type: 'audio/mpeg', bytes: 10 },
          cover: { ...file, content_type: 'image/png', bytes: 7 },
        },
      ],
    });
    const [{ audio, cover }] = body.data;
    expect(audio.expires_at).toBeGreaterThanOrEqual(Math.floor(before) + 300);
    expect(audio.expires_at).toBeLessThanOrEqual(after + 300);
    expect(await (await fetch(audio.url)).text()).toBe('some audio');
    expect(await (await fetch(cover.url)).text()).toBe('a cover');
  });

  test('keeps the requested order, with null for missing files', async ({ api, sql, user }) => {
    const [bare, hidden, lost] = (await addSounds(sql, [
      {},
      { is_active: false, audio_path: `${randomUUID()}.mp3` },
      { audio_path: `${randomUUID()}.mp3` },
    ])) as [string, string, string];
    const whole = await addRecording(sql);
    const { body } = await filesOf(api, user, [lost, whole, hidden, randomUUID(), bare, whole]);
    const some = expect.any(Object);
    expect(body.data).toEqual([
      { id: lost, audio: null, cover: null },
      { id: whole, audio: some, cover: some },
      { id: bare, audio: null, cover: null },
    ]);
  });

  test('counts as one request, with one call to Storage for a bucket', async ({ sql, user }) => {
    const gateway = await startGateway({ METRICS_PORT: '0' });
    const api = apiAt(gateway.url);
    const ids = await Promise.all(Array.from({ length: 12 }, () => addRecording(sql)));
    const [key] = await sql`select api_key from admin.create_api_key('batches', ${user.user.email})`;
    for (const [calls, token] of [
      [2, user.access_token],
      [4, key?.['api_key']],
    ] as const) {
      const answers = [api.get('/me'), api.post('/sounds/files').send({ ids }), api.get('/me')];
      const remaining: number[] = [];
      for (const answer of answers) {
        const { headers } = await answer.auth(token, bearer).expect(200);
        remaining.push(Number(headers['x-ratelimit-remaining']));
      }
      const [before = 0] = remaining;
      expect(remaining).toEqual([before, before - 1, before - 2]);
      await expect
        .poll(async () => valuesOf(await scrape(gateway), 'sounds_upstream_request_duration_seconds_count'))
        .toMatchObject({ 'storage ok': calls });
    }
    await gateway.close();
  });

  test('gives a file that is replaced under its name another version', async ({ api, sql, user }) => {
    const path = `${randomUUID()}.mp3`;
    await storeFile('audio', path, 'audio/mpeg', 'first take');
    const id = await addSound(sql, { audio_path: path });
    const versionOf = async () => (await filesOf(api, user, [id])).body.data[0].audio.version;
    const first = await versionOf();
    expect(await versionOf()).toBe(first);
    await storeFile('audio', path, 'audio/mpeg', 'second take');
    expect(await versionOf()).not.toBe(first);
  });
});
