import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addSound, addSounds } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startGateway } from '../support/gateway.ts';
import { scrape, valuesOf } from '../support/metrics.ts';
import { clientWith, issueKey, type Sql, test } from '../support/test.ts';
import { idsOf, readPage } from './pages.ts';

describe('GET /sounds?ids=', () => {
  test('returns each active sound once, in the requested order, up to 100', async ({ app, sql }) => {
    const hidden = await addSound(sql, { is_active: false });
    const ids = (await addSounds(sql, Array(97).fill({}))).toReversed();
    const asked = [...ids, hidden, randomUUID()].map((id) => id.toUpperCase());
    const page = await readPage(app, { ids: [...asked, ids[0]].join() });
    expect(idsOf(page)).toEqual(ids);
    expect(page.next_cursor).toBeNull();
    expect(await readPage(app, { ids: ids.slice(0, 2) })).toEqual({ ...page, data: page.data.slice(0, 2) });
  });
});

/** A sound with both files. */
async function addRecording(sql: Sql, audio = 'audio', cover = 'cover') {
  const name = randomUUID();
  const audio_path = await storeFile('audio', `${name}.mp3`, 'audio/mpeg', audio);
  const cover_image_path = await storeFile('covers', `${name}.png`, 'image/png', cover);
  return { audio_path, id: await addSound(sql, { audio_path, cover_image_path }) };
}

describe('POST /sounds/files', () => {
  test('signs the files of each sound, and says what they are', async ({ app, sql }) => {
    const { id, audio_path } = await addRecording(sql, 'some audio', 'a cover');
    const filesOf = async () =>
      (
        await app
          .post('/sounds/files')
          .send({ ids: [id] })
          .expect(200)
      ).body.data;
    const before = Date.now() / 1000;
    const files = await filesOf();
    const after = Date.now() / 1000;
    const file = { url: expect.any(String), expires_at: expect.any(Number), version: expect.any(String) };
    expect(files).toEqual([
      {
        id,
        audio: { ...file, content_type: 'audio/mpeg', bytes: 10 },
        cover: { ...file, content_type: 'image/png', bytes: 7 },
      },
    ]);
    const [{ audio, cover }] = files;
    expect(audio.expires_at).toBeGreaterThanOrEqual(Math.floor(before) + 300);
    expect(audio.expires_at).toBeLessThanOrEqual(after + 300);
    expect(await (await fetch(audio.url)).text()).toBe('some audio');
    expect(await (await fetch(cover.url)).text()).toBe('a cover');

    const versionOf = async () => (await filesOf())[0].audio.version;
    expect(await versionOf()).toBe(audio.version);
    await storeFile('audio', audio_path, 'audio/mpeg', 'second take');
    expect(await versionOf()).not.toBe(audio.version);
  });

  test('keeps the requested order, with null for missing files', async ({ app, sql }) => {
    const [bare, hidden, lost] = await addSounds(sql, [
      {},
      { is_active: false, audio_path: `${randomUUID()}.mp3` },
      { audio_path: `${randomUUID()}.mp3` },
    ]);
    const { id: whole } = await addRecording(sql);
    const ids = [lost, whole, hidden, randomUUID(), bare, whole];
    const { body } = await app.post('/sounds/files').send({ ids }).expect(200);
    const some = expect.any(Object);
    expect(body.data).toEqual([
      { id: lost, audio: null, cover: null },
      { id: whole, audio: some, cover: some },
      { id: bare, audio: null, cover: null },
    ]);
  });

  test('counts as one request, with one call to Storage for a bucket', async ({ sql, user }) => {
    const gateway = await startGateway({ METRICS_PORT: '0' });
    const recordings = await Promise.all(Array.from({ length: 3 }, () => addRecording(sql)));
    const ids = recordings.map(({ id }) => id);
    for (const [calls, token] of [
      [2, user.access_token],
      [4, await issueKey(sql, user)],
    ] as const) {
      const app = clientWith(gateway, token);
      const left = async () =>
        Number((await app.post('/sounds/files').send({ ids }).expect(200)).get('x-ratelimit-remaining'));
      const before = await left();
      expect((await app.get('/me').expect(200)).get('x-ratelimit-remaining')).toBe(`${before - 1}`);
      await expect
        .poll(async () => valuesOf(await scrape(gateway), 'sounds_upstream_request_duration_seconds_count'))
        .toMatchObject({ 'storage ok': calls });
    }
    await gateway.close();
  });
});
