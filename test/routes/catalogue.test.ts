import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSection, addSound, addSounds } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startDatabase } from '../support/prepared.ts';
import { type Sql, test } from '../support/test.ts';
import { checkCopies } from './copies.ts';

type Row = { slug?: string; [field: string]: unknown };
type Change = { kind: string; id: string; sound: Row | null; category: Row | null; home_section: Row | null };
type Changes = { data: Change[]; next: string; has_more: boolean; reset: boolean };

async function read(app: Api, since?: string): Promise<Changes> {
  return (await app.get('/catalogue/changes').query({ since }).expect(200)).body;
}

/** Returns a function that reads the changes since its last call, page by page. */
function reader(app: Api, since?: string) {
  let next = since;
  return async () => {
    const changes: Change[] = [];
    for (let more = true; more; ) {
      const answer = await read(app, next);
      changes.push(...answer.data);
      next = answer.next;
      more = answer.has_more;
    }
    return changes;
  };
}

const of = (changes: Change[], id: string) => changes.filter((change) => change.id === id);

const addAudio = (content: string, path = `${randomUUID()}.mp3`) =>
  storeFile('audio', path, 'audio/mpeg', content);

describe('GET /catalogue/changes', () => {
  test('returns the whole catalogue without since', async ({ app, sql }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const audio_path = await addAudio('file');
    const id = await addSound(sql, { title: 'Copied', category: child, sort_order: 7, audio_path });
    const slug = await addSection(sql, { mode: 'rule', rule_type: 'category', rule_value: child });
    const changes = await reader(app)();
    const { body } = await app.get('/sounds').query({ ids: id }).expect(200);
    const sound = { sort_order: 7, audio_version: expect.any(String), cover_version: null };
    expect(of(changes, id)).toEqual([
      { kind: 'sound', id, sound: { ...body.data[0], ...sound }, category: null, home_section: null },
    ]);
    const [category] = await sql`select id, parent_id from public.categories where slug = ${child}`;
    expect(of(changes, category?.['id'])).toMatchObject([
      {
        kind: 'category',
        sound: null,
        category: { slug: child, parent_id: category?.['parent_id'], sort_order: 0 },
      },
    ]);
    const section = changes.find((change) => change.home_section?.slug === slug);
    const rule = { mode: 'rule', rule_value: child };
    expect(section?.home_section).toMatchObject({ ...rule, sort_order: 0, sound_ids: [id] });
  });

  test('returns each changed row once, and null for one gone or hidden', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const [kept = '', hidden = '', deleted = ''] = await addSounds(sql, [{ category }, {}, {}]);
    const slug = await addSection(sql, { mode: 'manual' });
    const catchUp = reader(app);
    await catchUp();
    await sql`update public.sounds set title = 'First' where id = ${kept}`;
    await sql`update public.sounds set title = 'Second' where id = ${kept}`;
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    await sql`delete from public.sounds where id = ${deleted}`;
    await sql`update public.categories set is_active = false where slug = ${category}`;
    await sql`delete from public.home_sections where slug = ${slug}`;
    const changes = await catchUp();
    expect(of(changes, kept)).toMatchObject([{ sound: { title: 'Second' } }]);
    expect(of(changes, hidden)).toMatchObject([{ kind: 'sound', sound: null }]);
    expect(of(changes, deleted)).toMatchObject([{ kind: 'sound', sound: null }]);
    const gone = changes.filter((change) => !change.sound && !change.category && !change.home_section);
    const kinds = gone.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['sound', 'category', 'home_section']));
    expect(of(await catchUp(), kept)).toEqual([]);

    // Plays and no-op updates are no changes.
    await app.post(`/sounds/${kept}/play`).expect(200);
    await sql`update public.sounds set title = title where id = ${kept}`;
    expect(of(await catchUp(), kept)).toEqual([]);
  });

  test('shows a file that was replaced under its name, moved, removed or put back', async ({ app, sql }) => {
    const path = await addAudio('first take');
    const cover_image_path = `${randomUUID()}.png`;
    const id = await addSound(sql, { audio_path: path, cover_image_path });
    const catchUp = reader(app);
    await catchUp();
    const versions = async () => of(await catchUp(), id).map(({ sound }) => sound);
    const some = expect.any(String);

    await addAudio('second take', path);
    const [second] = await versions();
    await storeFile('covers', cover_image_path, 'image/png');
    expect(await versions()).toMatchObject([
      { audio_version: second?.['audio_version'], cover_version: some },
    ]);
    for (const [bucket, audio_version] of [
      ['covers', null],
      ['audio', some],
    ] as const) {
      await sql`update storage.objects set bucket_id = ${bucket} where name = ${path}`;
      expect(await versions()).toMatchObject([{ audio_version }]);
    }
    await sql.begin(async (transaction) => {
      await transaction`select set_config('storage.allow_delete_query', 'true', true)`;
      await transaction`delete from storage.objects where bucket_id = 'audio' and name = ${path}`;
    });
    expect(await versions()).toMatchObject([{ audio_version: null }]);
  });

  test('a since of another database gets reset and the whole catalogue', async ({ app, sql }) => {
    const id = await addSound(sql);
    const first = await read(app, '00000000.5');
    expect(first.reset).toBe(true);
    const rest = first.has_more ? await reader(app, first.next)() : [];
    expect(of([...first.data, ...rest], id)).not.toEqual([]);
    expect((await read(app)).reset).toBe(false);
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

  async function list(since?: string): Promise<Changes> {
    const filters = JSON.stringify({ since });
    const [row] = await sql`select public.list_catalogue_changes(${filters}::jsonb) as answer`;
    return row?.['answer'];
  }

  test('tombstones expire after 90 days, and only copies older than that get reset', async () => {
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
    // A first copy that is still being read cannot hold rows that were removed before it began, so it needs no reset.
    const [feed, number] = (await list()).next.split('.');
    expect((await list(`${feed}.0.${number}`)).reset).toBe(false);
  });

  test.for(['home_section_sounds', 'home_sections', 'sounds', 'categories'])(
    'a truncate of %s lets every copy begin anew',
    async (table) => {
      await addSound(sql, { category: await addCategory(sql) });
      const before = await list();
      expect((await list(before.next)).reset).toBe(false);
      await sql`truncate ${sql(`public.${table}`)} cascade`;
      const after = await list(before.next);
      expect(after.reset).toBe(true);
      expect(after.data.some(({ sound }) => sound !== null)).toBe(table.startsWith('home'));
      expect((await list(after.next)).reset).toBe(false);
    },
  );

  test('copies are equal in the end, however writers and readers overlap', () =>
    checkCopies(sql, database.databaseUrl, 40));
});
