import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addSound, addSounds } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { type Session, type Sql, signUp, test } from '../support/test.ts';

const hour = 60 * 60_000;

type Page = {
  data: { sound_id: string; plays: number; sounds: object | null }[];
  next_cursor: string | null;
};

const play = (api: Api, { access_token }: Session, id: string) =>
  api.post(`/sounds/${id}/play`).auth(access_token, bearer).expect(200);

const playAt = (api: Api, { access_token }: Session, sound_id: string, played_at: string) =>
  api
    .post('/plays')
    .auth(access_token, bearer)
    .send({ plays: [{ id: randomUUID(), sound_id, played_at }] })
    .expect(200);

async function history(api: Api, { access_token }: Session, query: object = {}): Promise<Page> {
  return (await api.get('/history').query(query).auth(access_token, bearer).expect(200)).body;
}

async function pages(api: Api, session: Session, limit: number): Promise<string[][]> {
  const read: string[][] = [];
  let cursor: string | null = null;
  do {
    const page = await history(api, session, { limit, ...(cursor !== null && { cursor }) });
    read.push(page.data.map(({ sound_id }) => sound_id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return read;
}

/** Enters plays in a history, all at one moment, as those of one batch may be. */
const enter = (sql: Sql, { user }: Session, sounds: string[]) => sql`
  insert into public.history (user_id, sound_id, plays, last_played_at)
  select ${user.id}, sound, 1, '2026-01-01' from unnest(${sounds}::uuid[]) as sound`;

describe('GET /history', () => {
  test('has one entry for each sound, the last played first', async ({ api, sql }) => {
    const session = await signUp(api);
    const [first = '', second = ''] = await addSounds(sql, [
      { title: 'First', cover_image_path: 'a.jpg', duration_sec: 4.5 },
      { title: 'Second' },
    ]);
    for (const id of [first, second, first]) await play(api, session, id);
    const last_played_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const preview = { category: null, cover_image_url: null, duration_sec: null };
    expect(await history(api, session)).toEqual({
      data: [
        {
          sound_id: first,
          last_played_at,
          plays: 2,
          sounds: {
            ...preview,
            id: first,
            title: 'First',
            cover_image_url: 'covers/a.jpg',
            duration_sec: 4.5,
          },
        },
        {
          sound_id: second,
          last_played_at,
          plays: 1,
          sounds: { ...preview, id: second, title: 'Second' },
        },
      ],
      next_cursor: null,
    });
  });

  test('an offline play that is sent late does not move its sound back', async ({ api, sql }) => {
    const session = await signUp(api);
    const [older, newer] = [await addSound(sql), await addSound(sql)];
    const at = (hours: number) => new Date(Date.now() - hours * hour).toISOString();
    const moment = at(1);
    await playAt(api, session, newer, moment);
    await playAt(api, session, older, at(2));
    await playAt(api, session, newer, at(3));
    expect((await history(api, session)).data).toMatchObject([
      { sound_id: newer, last_played_at: moment, plays: 2 },
      { sound_id: older, plays: 1 },
    ]);
  });

  test('pages of any size give every entry exactly once, also those of one moment', async ({ api, sql }) => {
    const session = await signUp(api);
    await enter(sql, session, await addSounds(sql, Array(7).fill({})));
    await playAt(api, session, await addSound(sql), new Date().toISOString());
    const [all = []] = await pages(api, session, 100);
    expect(new Set(all).size).toBe(8);
    for (const limit of [1, 2, 3, 7, 8]) {
      const read = await pages(api, session, limit);
      expect(read.flat()).toEqual(all);
      expect(read.map(({ length }) => length).slice(0, -1)).toEqual(Array(read.length - 1).fill(limit));
    }
  });

  test('goes on behind an entry that was removed or played again meanwhile', async ({ api, sql }) => {
    const session = await signUp(api);
    await enter(sql, session, await addSounds(sql, Array(6).fill({})));
    const [all = []] = await pages(api, session, 100);
    const { next_cursor: cursor } = await history(api, session, { limit: 3 });
    await api.delete(`/history/${all[2]}`).auth(session.access_token, bearer).expect(200);
    await play(api, session, all[1] ?? '');
    const { data } = await history(api, session, { limit: 3, cursor });
    expect(data.map(({ sound_id }) => sound_id)).toEqual(all.slice(3));
  });

  test('keeps a hidden sound without its preview, and no deleted one', async ({ api, sql }) => {
    const session = await signUp(api);
    const [hidden, deleted] = [await addSound(sql), await addSound(sql)];
    for (const id of [hidden, deleted]) await play(api, session, id);
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    await sql`delete from public.sounds where id = ${deleted}`;
    expect((await history(api, session)).data).toMatchObject([{ sound_id: hidden, plays: 1, sounds: null }]);
    await sql`update public.sounds set is_active = true where id = ${hidden}`;
    expect((await history(api, session)).data).toMatchObject([{ sounds: { id: hidden } }]);
  });

  test('lists plays with an API key for its owner', async ({ api, sql }) => {
    const session = await signUp(api);
    const [row] = await sql`select api_key from admin.create_api_key('Partner', ${session.user.email})`;
    const partner = { ...session, access_token: row?.['api_key'] };
    const ids = await addSounds(sql, [{}, {}, {}]);
    for (const id of ids) await play(api, partner, id);
    expect((await pages(api, partner, 2)).flat()).toEqual(ids.toReversed());
    expect((await pages(api, session, 2)).flat()).toEqual(ids.toReversed());
    await api.delete(`/history/${ids[0]}`).auth(partner.access_token, bearer).expect(200);
    expect((await history(api, session)).data).toHaveLength(2);
    await api.delete('/history').auth(partner.access_token, bearer).expect(200);
    expect((await history(api, session)).data).toHaveLength(0);
  });
});

describe('DELETE /history', () => {
  test('clears all or one sound, and leaves the counts of sounds', async ({ api, sql }) => {
    const session = await signUp(api);
    const [first = '', second = '', third = ''] = await addSounds(sql, [{}, {}, {}]);
    for (const id of [first, second, third]) await play(api, session, id);
    const remove = async (path: string) => {
      const { body } = await api.delete(path).auth(session.access_token, bearer).expect(200);
      expect(body).toEqual({ data: { ok: true } });
      return (await history(api, session)).data.map(({ sound_id }) => sound_id);
    };
    expect(await remove(`/history/${second}`)).toEqual([third, first]);
    expect(await remove(`/history/${second}`)).toEqual([third, first]);
    expect(await remove('/history')).toEqual([]);
    expect(await remove('/history')).toEqual([]);
    expect(
      await sql`select plays from public.play_counts where sound_id in (${first}, ${second}, ${third})`,
    ).toEqual([{ plays: '1' }, { plays: '1' }, { plays: '1' }]);
    expect((await play(api, session, first)).body.data.play_count).toBe(2);
    expect((await history(api, session)).data).toMatchObject([{ sound_id: first, plays: 1 }]);
  });

  test('does not make a repeated play count again', async ({ api, sql }) => {
    const session = await signUp(api);
    const [id, key] = [await addSound(sql), randomUUID()];
    const again = () =>
      api
        .post(`/sounds/${id}/play`)
        .auth(session.access_token, bearer)
        .set('Idempotency-Key', key)
        .expect(200);
    await again();
    await api.delete('/history').auth(session.access_token, bearer).expect(200);
    expect((await again()).body.data.play_count).toBe(1);
    expect((await history(api, session)).data).toEqual([]);
  });
});

describe('the history of another user', () => {
  test('cannot be read or cleared, through the service or past it', async ({ api, sql }) => {
    const [mine, theirs] = [await signUp(api), await signUp(api)];
    const id = await addSound(sql);
    await play(api, mine, id);
    expect((await history(api, theirs)).data).toEqual([]);
    await api.delete(`/history/${id}`).auth(theirs.access_token, bearer).expect(200);
    await api.delete('/history').auth(theirs.access_token, bearer).expect(200);
    expect(await rest(theirs.access_token, 'DELETE', 'history?plays=gt.0')).toEqual({
      status: 200,
      body: [],
    });
    expect(await rest(theirs.access_token, 'GET', 'history')).toEqual({ status: 200, body: [] });
    // Without a column in it, the policy for reading does not apply. Hosted projects reject it for want of a filter.
    await rest(theirs.access_token, 'DELETE', 'history', undefined, { Prefer: 'return=minimal' });
    expect((await history(api, mine)).data).toMatchObject([{ sound_id: id, plays: 1 }]);
    expect((await rest(mine.access_token, 'GET', 'history')).body).toMatchObject([{ sound_id: id }]);
  });
});
