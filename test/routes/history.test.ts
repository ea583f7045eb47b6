import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { clientWith, issueKey, newUser, type Session, type Sql, test } from '../support/test.ts';

type Page = {
  data: { sound_id: string; plays: number; sounds: object | null }[];
  next_cursor: string | null;
};

const play = (app: Api, id: string) => app.post(`/sounds/${id}/play`).expect(200);

async function history(app: Api, query: object = {}): Promise<Page> {
  return (await app.get('/history').query(query).expect(200)).body;
}

const idsOf = ({ data }: Page) => data.map(({ sound_id }) => sound_id);

async function pages(app: Api, limit: number): Promise<string[][]> {
  const read: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await history(app, { limit, cursor });
    read.push(idsOf(page));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return read;
}

/** Enters plays in a history, all at one moment, as those of one batch may be. */
const enter = (sql: Sql, { user }: Session, sounds: string[]) => sql`
  insert into public.history (user_id, sound_id, plays, last_played_at)
  select ${user.id}, sound, 1, '2026-01-01' from unnest(${sounds}::uuid[]) as sound`;

describe('GET /history', () => {
  test('has one entry for each sound, the last played first', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [first = '', second = '', deleted = ''] = await addSounds(sql, [
      { title: 'First', cover_image_path: 'a.jpg', duration_sec: 4.5 },
      { title: 'Second' },
      {},
    ]);
    for (const id of [first, second, first, deleted]) await play(app, id);
    const change = (row: object) => sql`update public.sounds set ${sql(row)} where id = ${second}`;
    await change({ is_active: false }); // keeps the entry, without its preview
    await sql`delete from public.sounds where id = ${deleted}`;
    const last_played_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const sounds = {
      id: first,
      title: 'First',
      category: null,
      cover_image_url: 'covers/a.jpg',
      duration_sec: 4.5,
    };
    expect(await history(app)).toEqual({
      data: [
        { sound_id: first, last_played_at, plays: 2, sounds },
        { sound_id: second, last_played_at, plays: 1, sounds: null },
      ],
      next_cursor: null,
    });
    await change({ is_active: true });
    expect((await history(app)).data[1]).toMatchObject({ sounds: { id: second, title: 'Second' } });
  });

  test('an offline play that is sent late does not move its sound back', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [older = '', newer = ''] = await addSounds(sql, [{}, {}]);
    const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const playAt = (sound_id: string, played_at: string) =>
      app.post('/plays').send({ plays: [{ id: randomUUID(), sound_id, played_at }] });
    const moment = at(1);
    await playAt(newer, moment).expect(200);
    await playAt(older, at(2)).expect(200);
    await playAt(newer, at(3)).expect(200);
    expect((await history(app)).data).toMatchObject([
      { sound_id: newer, last_played_at: moment, plays: 2 },
      { sound_id: older, plays: 1 },
    ]);
  });

  test('pages of any size give every entry once, also when some go or move', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const { app } = user;
    await enter(sql, user, await addSounds(sql, Array(7).fill({})));
    await play(app, await addSound(sql));
    const [all = []] = await pages(app, 100);
    expect(new Set(all).size).toBe(8);
    for (const limit of [1, 3, 7, 8]) {
      const read = await pages(app, limit);
      expect(read.flat()).toEqual(all);
      expect(read.map(({ length }) => length).slice(0, -1)).toEqual(Array(read.length - 1).fill(limit));
    }
    const { next_cursor: cursor } = await history(app, { limit: 4 });
    await app.delete(`/history/${all[3]}`).expect(200);
    await play(app, all[2] ?? '');
    expect(idsOf(await history(app, { limit: 4, cursor }))).toEqual(all.slice(4));
  });
});

describe('DELETE /history', () => {
  test('clears all or one sound, also with an API key, and keeps counts', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const partner = clientWith(gateway, await issueKey(sql, user));
    const sounds = await addSounds(sql, [{}, {}, {}]);
    const [first = '', second = '', third = ''] = sounds;
    for (const id of sounds) await play(partner, id);
    expect((await pages(partner, 2)).flat()).toEqual(sounds.toReversed());
    const remove = async (client: Api, path: string) => {
      await client.delete(path).expect(200, { data: { ok: true } });
      return idsOf(await history(user.app));
    };
    expect(await remove(user.app, `/history/${second}`)).toEqual([third, first]);
    expect(await remove(partner, `/history/${second}`)).toEqual([third, first]);
    expect(await remove(partner, `/history/${third}`)).toEqual([first]);
    expect(await remove(partner, '/history')).toEqual([]);
    expect((await play(user.app, first)).body.data.play_count).toBe(2);
    expect((await history(user.app)).data).toMatchObject([{ sound_id: first, plays: 1 }]);
    expect(await remove(user.app, '/history')).toEqual([]);
  });

  test('does not make a repeated play count again', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [id, key] = [await addSound(sql), randomUUID()];
    const again = () => app.post(`/sounds/${id}/play`).set('Idempotency-Key', key).expect(200);
    await again();
    await app.delete('/history').expect(200);
    expect((await again()).body.data.play_count).toBe(1);
    expect((await history(app)).data).toEqual([]);
  });

  test('cannot clear or show the history of another user, also past the service', async ({
    gateway,
    sql,
  }) => {
    const [mine, theirs] = [await newUser(gateway), await newUser(gateway)];
    const id = await addSound(sql);
    await play(mine.app, id);
    expect((await history(theirs.app)).data).toEqual([]);
    await theirs.app.delete(`/history/${id}`).expect(200);
    await theirs.app.delete('/history').expect(200);
    const none = { status: 200, body: [] };
    expect(await rest(theirs.access_token, 'DELETE', 'history?plays=gt.0')).toEqual(none);
    expect(await rest(theirs.access_token, 'GET', 'history')).toEqual(none);
    // Without a column in it, the policy for reading does not apply. Hosted projects reject it for want of a filter.
    await rest(theirs.access_token, 'DELETE', 'history', undefined, { Prefer: 'return=minimal' });
    expect((await history(mine.app)).data).toMatchObject([{ sound_id: id, plays: 1 }]);
    expect((await rest(mine.access_token, 'GET', 'history')).body).toMatchObject([{ sound_id: id }]);
  });
});
