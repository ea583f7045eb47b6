import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addSound, addSounds, deleteForGood } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { clientWith, issueKey, newUser, test } from '../support/test.ts';

interface Page {
  data: { sound_id: string; [field: string]: unknown }[];
  next_cursor: string | null;
}

const play = (app: Api, id: string, key: string = randomUUID()) =>
  app.post(`/sounds/${id}/play`).set('Idempotency-Key', key).expect(200);

async function history(app: Api, query: object = {}): Promise<Page> {
  return (await app.get('/history').query(query).expect(200)).body;
}

const idsOf = ({ data }: Page) => data.map(({ sound_id }) => sound_id);

describe('GET /history', () => {
  test('returns one entry for each sound, the last played first', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const preview = { title: 'First', duration_sec: 4.5, cover_placeholder: 'k7kMBYA3eYiAd4iAiA==', is_premium: false };
    const rows = [{ ...preview, cover_image_path: 'a.jpg' }, { title: 'Second' }, {}];
    const [first = '', second = '', deleted = ''] = await addSounds(sql, rows);
    for (const id of [first, second, first, deleted]) await play(app, id);
    const change = (row: object) => sql`update public.sounds set ${sql(row)} where id = ${second}`;
    await change({ is_active: false }); // keeps the entry without its preview
    await deleteForGood(sql, [deleted]);
    const last_played_at = expect.any(String);
    const sounds = { ...preview, id: first, category: null, cover_image_url: 'covers/a.jpg' };
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

  test('an offline play that is sent late does not set back the time of its sound', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [older = '', newer = ''] = await addSounds(sql, [{}, {}]);
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const moment = hoursAgo(1);
    const playAt = (sound_id: string, played_at: string) =>
      app.post('/plays').send({ plays: [{ id: randomUUID(), sound_id, played_at }] });
    await playAt(newer, moment);
    for (const [hours, id] of [older, newer].entries()) await playAt(id, hoursAgo(hours + 2));
    expect((await history(app)).data).toMatchObject([
      { sound_id: newer, last_played_at: moment, plays: 2 },
      { sound_id: older, plays: 1 },
    ]);
  });

  test('pages of any size contain every entry once, also if entries are deleted or move', async ({ gateway, sql }) => {
    const { app, user } = await newUser(gateway);
    const sounds = await addSounds(sql, Array(7).fill({}));
    // Give all entries the same time, as a batch of plays may.
    await sql`
      insert into public.history (user_id, sound_id, plays, last_played_at)
      select ${user.id}, sound, 1, '2026-01-01' from unnest(${sounds}::uuid[]) as sound`;
    await play(app, await addSound(sql));
    const all = idsOf(await history(app));
    expect(new Set(all).size).toBe(8);
    for (const limit of [1, 3, 8]) {
      let cursor: string | null | undefined;
      for (let start = 0; start < 8; start += limit) {
        const page = await history(app, { limit, cursor });
        expect(idsOf(page)).toEqual(all.slice(start, start + limit));
        cursor = page.next_cursor;
      }
      expect(cursor).toBeNull();
    }
    const { next_cursor: cursor } = await history(app, { limit: 4 });
    await app.delete(`/history/${all[3]}`).expect(200);
    await play(app, all[2] ?? '');
    expect(idsOf(await history(app, { limit: 4, cursor }))).toEqual(all.slice(4));
  });
});

describe('DELETE /history', () => {
  test('removes one entry or all, and keeps counts and idempotency keys', async ({ gateway, sql }) => {
    const user = await newUser(gateway);
    const partner = clientWith(gateway, await issueKey(sql, user));
    const [first = '', second = '', third = ''] = await addSounds(sql, [{}, {}, {}]);
    const key = randomUUID();
    await play(partner, first, key);
    for (const id of [second, third]) await play(partner, id);
    const remove = async (client: Api, path: string) => {
      await client.delete(path).expect(200, { data: { ok: true } });
      return idsOf(await history(user.app));
    };
    expect(await remove(user.app, `/history/${second}`)).toEqual([third, first]);
    expect(await remove(partner, `/history/${second}`)).toEqual([third, first]);
    expect(await remove(partner, '/history')).toEqual([]);
    expect((await play(user.app, first, key)).body.data.play_count).toBe(1);
    expect((await history(user.app)).data).toEqual([]);
    expect((await play(user.app, first)).body.data.play_count).toBe(2);
    expect((await history(user.app)).data).toMatchObject([{ sound_id: first, plays: 1 }]);
  });

  test('a play before it that arrives later counts, and does not come back', async ({ gateway, sql }) => {
    const { app } = await newUser(gateway);
    const [cleared = '', removed = '', never = ''] = await addSounds(sql, [{}, {}, {}]);
    const playedAt = async (sound_id: string, ...moments: number[]) => {
      const plays = moments.map((ms) => ({ id: randomUUID(), sound_id, played_at: new Date(ms).toISOString() }));
      const { data } = (await app.post('/plays').send({ plays }).expect(200)).body;
      expect(data.map(({ status }: { status: string }) => status)).toEqual(moments.map(() => 'counted'));
    };
    const before = Date.now() - 1000;
    await playedAt(cleared, before);
    await app.delete('/history').expect(200);
    for (const id of [cleared, never]) await playedAt(id, before, before - 3_600_000);
    expect((await history(app)).data).toEqual([]);
    await app.delete(`/history/${removed}`).expect(200);
    await playedAt(removed, before, Date.now() + 1000);
    await playedAt(never, before, Date.now() + 1000);
    expect((await history(app)).data).toMatchObject([
      { sound_id: never, plays: 1 },
      { sound_id: removed, plays: 1 },
    ]);
    const counts = await sql`select plays from public.play_counts where sound_id in ${sql([cleared, removed, never])}`;
    expect(counts.map(({ plays }) => Number(plays)).sort()).toEqual([2, 3, 4]);
  });

  test('cannot change the history of another user, not even through the data API', async ({ gateway, sql }) => {
    const [mine, theirs] = [await newUser(gateway), await newUser(gateway)];
    const id = await addSound(sql);
    await play(mine.app, id);
    expect((await history(theirs.app)).data).toEqual([]);
    for (const path of [`/history/${id}`, '/history']) await theirs.app.delete(path).expect(200);
    const none = { status: 200, body: [] };
    expect(await rest(theirs.access_token, 'DELETE', 'history?plays=gt.0')).toEqual(none);
    expect(await rest(theirs.access_token, 'GET', 'history')).toEqual(none);
    // Here only the policy for deletion protects the rows of others. Hosted projects reject a call without a filter.
    await rest(theirs.access_token, 'DELETE', 'history', undefined, { Prefer: 'return=minimal' });
    expect((await rest(mine.access_token, 'GET', 'history')).body).toMatchObject([{ sound_id: id, plays: 1 }]);
  });
});
