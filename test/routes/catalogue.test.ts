import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSection, addSound, addSounds } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startDatabase } from '../support/prepared.ts';
import { type Sql, test } from '../support/test.ts';
import { type Changes, checkCopies, listChanges } from './copies.ts';

/** Returns a function that reads the changes since its last call, page by page. */
function reader(app: Api, since?: string) {
  let next = since;
  return async () => {
    const all: Changes = { data: [], next: '', has_more: true, reset: false };
    while (all.has_more) {
      const { body } = await app.get('/catalogue/changes').query({ since: next }).expect(200);
      next = body.next;
      Object.assign(all, { ...body, data: [...all.data, ...body.data], reset: all.reset || body.reset });
    }
    return all;
  };
}

const of = ({ data }: Changes, id: string) => data.filter((change) => change.id === id);

const addAudio = (content: string, path = `${randomUUID()}.mp3`) => storeFile('audio', path, 'audio/mpeg', content);

describe('GET /catalogue/changes', () => {
  test('returns the whole catalogue without since, or with a since of another database', async ({ app, sql }) => {
    const parent = await addCategory(sql);
    const slug = await addCategory(sql, { parent });
    const audio_path = await addAudio('file');
    const facts = { loudness_lufs: -23.4, true_peak_dbtp: 0.3, waveform: Array<number>(200).fill(50) };
    const id = await addSound(sql, { title: 'Copied', category: slug, sort_order: 7, audio_path, ...facts });
    const rule = { mode: 'rule', rule_type: 'category', rule_value: slug };
    const section = await addSection(sql, rule);
    const changes = await reader(app)();
    expect(changes.reset).toBe(false);
    const { body } = await app.get('/sounds').query({ ids: id }).expect(200);
    const more = { sort_order: 7, audio_version: expect.any(String), cover_version: null, ...facts };
    const none = { sound: null, category: null, home_section: null };
    const change = { ...none, kind: 'sound', id, sound: { ...body.data[0], ...more } };
    expect(of(changes, id)).toEqual([change]);
    const [row] = await sql`select id, parent_id from public.categories where slug = ${slug}`;
    const category = { slug, parent_id: row?.['parent_id'], sort_order: 0 };
    expect(of(changes, row?.['id'])).toMatchObject([{ ...none, kind: 'category', category }]);
    const sections = changes.data.map(({ home_section }) => home_section);
    expect(sections).toContainEqual(
      expect.objectContaining({ ...rule, slug: section, sort_order: 0, sound_ids: [id] }),
    );

    const reset = await reader(app, '00000000.5')();
    expect([reset.reset, of(reset, id)]).toEqual([true, [change]]);
  });

  test('returns each changed row once, and null for a deleted or hidden row', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const [kept = '', hidden = '', deleted = ''] = await addSounds(sql, [{ category }, {}, {}]);
    const slug = await addSection(sql, { mode: 'manual' });
    const catchUp = reader(app);
    await catchUp();
    for (const title of ['First', 'Second']) await sql`update public.sounds set title = ${title} where id = ${kept}`;
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    await sql`delete from public.sounds where id = ${deleted}`;
    await sql`update public.categories set is_active = false where slug = ${category}`;
    await sql`delete from public.home_sections where slug = ${slug}`;
    const changes = await catchUp();
    expect(of(changes, kept)).toMatchObject([{ sound: { title: 'Second' } }]);
    for (const id of [hidden, deleted]) expect(of(changes, id)).toMatchObject([{ kind: 'sound', sound: null }]);
    const gone = changes.data.filter((change) => !change.sound && !change.category && !change.home_section);
    const kinds = gone.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['sound', 'category', 'home_section']));
    expect(of(await catchUp(), kept)).toEqual([]);

    // Plays and no-op updates do not appear in the changes.
    await app.post(`/sounds/${kept}/play`).expect(200);
    await sql`update public.sounds set title = title where id = ${kept}`;
    expect(of(await catchUp(), kept)).toEqual([]);
  });

  test('returns a sound when its file is replaced under the same name, added or removed', async ({ app, sql }) => {
    const path = await addAudio('first take');
    const cover_image_path = `${randomUUID()}.png`;
    const id = await addSound(sql, { audio_path: path, cover_image_path });
    const catchUp = reader(app);
    await catchUp();
    const versions = async () => of(await catchUp(), id).map(({ sound }) => sound);
    await addAudio('second take', path);
    const [second] = await versions();
    await storeFile('covers', cover_image_path, 'image/png');
    const { audio_version } = second ?? {};
    expect(await versions()).toMatchObject([{ audio_version, cover_version: expect.any(String) }]);
    await sql.begin(async (transaction) => {
      await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
      await transaction`delete from storage.objects where bucket_id = 'audio' and name = ${path}`;
    });
    expect(await versions()).toMatchObject([{ audio_version: null }]);
  });
});

describe('in a separate database', () => {
  let database: Awaited<ReturnType<typeof startDatabase>>;
  let sql: Sql;
  beforeAll(async () => {
    database = await startDatabase();
    sql = postgres(database.databaseUrl, { max: 1, onnotice: () => {} });
  });
  afterAll(async () => {
    await sql.end();
    await database.stop();
  });
  const list = (since?: string) => listChanges(sql, since);

  test('tombstones expire after 90 days, and only older copies are reset', async () => {
    const doomed = await addSound(sql);
    const old = await list();
    await sql`delete from public.sounds where id = ${doomed}`;
    const recent = await list(old.next);
    expect(recent.data).toMatchObject([{ id: doomed, sound: null }]);
    const kept = await addSound(sql);
    const age = async (days: number) => {
      await sql`update private.catalogue_changes set changed_at = now() - ${days} * interval '1 day'`;
      await sql`select private.upkeep()`;
    };
    await age(89);
    expect((await list(old.next)).reset).toBe(false);
    await age(91);
    expect(await list(old.next)).toMatchObject({ reset: true, data: [{ id: kept }] });
    expect(await list(recent.next)).toMatchObject({ reset: false, data: [{ id: kept }] });
    // A first copy in progress needs no reset, because it cannot contain rows that were removed before it began.
    const [feed, number] = (await list()).next.split('.');
    expect((await list(`${feed}.0.${number}`)).reset).toBe(false);
  });

  test('a truncate of any table resets every copy', async () => {
    for (const table of ['home_section_sounds', 'home_sections', 'sounds', 'categories']) {
      await addSound(sql, { category: await addCategory(sql) });
      const before = await list();
      expect((await list(before.next)).reset).toBe(false);
      await sql`truncate ${sql(`public.${table}`)} cascade`;
      const after = await list(before.next);
      const hasSounds = after.data.some(({ sound }) => sound !== null);
      expect([table, after.reset, hasSounds]).toEqual([table, true, table.startsWith('home')]);
      expect((await list(after.next)).reset).toBe(false);
    }
  });

  test('copies are equal in the end, even if writers and readers overlap', () =>
    checkCopies(sql, database.databaseUrl, 16));
});
