import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { describe, expect, onTestFinished } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSection, addSound } from '../support/catalogue.ts';
import { storeFile } from '../support/files.ts';
import { startDatabase } from '../support/prepared.ts';
import { type Session, type Sql, test } from '../support/test.ts';
import { checkCopies } from './copies.ts';

type Change = {
  kind: string;
  id: string;
  sound: { id: string } | null;
  category: object | null;
  home_section: object | null;
};

async function read(api: Api, user: Session, since?: string) {
  const { body } = await api
    .get('/catalogue/changes')
    .query({ since })
    .auth(user.access_token, bearer)
    .expect(200);
  return body as { data: Change[]; next: string; has_more: boolean; reset: boolean };
}

/** Reads pages of changes until none is left. */
async function catchUp(api: Api, user: Session, since?: string) {
  const changes: Change[] = [];
  let next = since;
  let more = true;
  while (more) {
    const answer = await read(api, user, next);
    changes.push(...answer.data);
    next = answer.next;
    more = answer.has_more;
  }
  return { changes, next: String(next) };
}

const of = (changes: Change[], id: string) => changes.filter((change) => change.id === id);

describe('GET /catalogue/changes', () => {
  test('returns the whole catalogue without since', async ({ api, sql, user }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const path = await storeFile('audio', `${randomUUID()}.mp3`, 'audio/mpeg');
    const id = await addSound(sql, { title: 'Copied', category: child, sort_order: 7, audio_path: path });
    const slug = await addSection(sql, { mode: 'rule', rule_type: 'category', rule_value: child });
    const { changes } = await catchUp(api, user);
    const { body } = await api.get('/sounds').query({ ids: id }).auth(user.access_token, bearer).expect(200);
    expect(of(changes, id)).toEqual([
      {
        kind: 'sound',
        id,
        sound: { ...body.data[0], sort_order: 7, audio_version: expect.any(String), cover_version: null },
        category: null,
        home_section: null,
      },
    ]);
    const [category] = await sql`select id, parent_id from public.categories where slug = ${child}`;
    expect(of(changes, category?.['id'])).toMatchObject([
      {
        kind: 'category',
        sound: null,
        category: { slug: child, parent_id: category?.['parent_id'], sort_order: 0 },
      },
    ]);
    const section = changes.find(
      ({ home_section }) => home_section && 'slug' in home_section && home_section.slug === slug,
    );
    expect(section?.home_section).toMatchObject({
      mode: 'rule',
      rule_value: child,
      sort_order: 0,
      sound_ids: [id],
    });
  });

  test('returns each changed row once, and null for one gone or hidden', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [kept, hidden, deleted] = [
      await addSound(sql, { category }),
      await addSound(sql),
      await addSound(sql),
    ];
    const slug = await addSection(sql, { mode: 'manual' });
    const { next } = await catchUp(api, user);
    await sql`update public.sounds set title = 'First' where id = ${kept}`;
    await sql`update public.sounds set title = 'Second' where id = ${kept}`;
    await sql`update public.sounds set is_active = false where id = ${hidden}`;
    await sql`delete from public.sounds where id = ${deleted}`;
    await sql`update public.categories set is_active = false where slug = ${category}`;
    await sql`delete from public.home_sections where slug = ${slug}`;
    const { changes, next: later } = await catchUp(api, user, next);
    expect(of(changes, kept)).toMatchObject([{ sound: { title: 'Second' } }]);
    expect(of(changes, hidden)).toMatchObject([{ kind: 'sound', sound: null }]);
    expect(of(changes, deleted)).toMatchObject([{ kind: 'sound', sound: null }]);
    const gone = changes.filter((change) => !change.sound && !change.category && !change.home_section);
    expect(gone.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['sound', 'category', 'home_section']),
    );
    expect(of((await catchUp(api, user, later)).changes, kept)).toEqual([]);
  });

  test('shows a file that was replaced under its name, removed or put back', async ({ api, sql, user }) => {
    const path = await storeFile('audio', `${randomUUID()}.mp3`, 'audio/mpeg', 'first take');
    const cover = `${randomUUID()}.png`;
    const id = await addSound(sql, { audio_path: path, cover_image_path: cover });
    let { next } = await catchUp(api, user);
    const versions = async () => {
      const answer = await catchUp(api, user, next);
      next = answer.next;
      return of(answer.changes, id).map(
        ({ sound }) => sound as unknown as { audio_version: string; cover_version: string },
      );
    };
    await storeFile('audio', path, 'audio/mpeg', 'second take');
    const [second] = await versions();
    await storeFile('covers', cover, 'image/png');
    const [covered] = await versions();
    expect(covered).toMatchObject({
      audio_version: second?.audio_version,
      cover_version: expect.any(String),
    });
    await sql`delete from storage.objects where bucket_id = 'audio' and name = ${path}`.catch(() =>
      sql.begin(async (transaction) => {
        await transaction`set local storage.allow_delete_query = 'true'`;
        await transaction`delete from storage.objects where bucket_id = 'audio' and name = ${path}`;
      }),
    );
    expect(await versions()).toMatchObject([{ audio_version: null }]);
  });

  test('shows a file that was moved to another bucket, and back', async ({ api, sql, user }) => {
    const path = await storeFile('audio', `${randomUUID()}.mp3`, 'audio/mpeg', 'a take');
    const id = await addSound(sql, { audio_path: path });
    let { next } = await catchUp(api, user);
    for (const [bucket, version] of [
      ['covers', null],
      ['audio', expect.any(String)],
    ] as const) {
      await sql`update storage.objects set bucket_id = ${bucket} where name = ${path}`;
      const answer = await catchUp(api, user, next);
      next = answer.next;
      expect(of(answer.changes, id)).toMatchObject([{ sound: { audio_version: version } }]);
    }
  });

  test('plays and no-op updates do not appear in the change feed', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const { next } = await catchUp(api, user);
    await api.post(`/sounds/${id}/play`).auth(user.access_token, bearer).expect(200);
    await sql`update public.sounds set title = title where id = ${id}`;
    expect(of((await catchUp(api, user, next)).changes, id)).toEqual([]);
  });

  test('a since of another database gets reset and the whole catalogue', async ({ api, sql, user }) => {
    const id = await addSound(sql);
    const first = await read(api, user, '00000000.5');
    expect(first.reset).toBe(true);
    const { changes } = await catchUp(api, user, first.has_more ? first.next : undefined);
    expect(of([...first.data, ...changes], id)).not.toEqual([]);
    expect((await read(api, user)).reset).toBe(false);
  });
});

describe('in a database of its own', () => {
  async function ownDatabase(): Promise<{ sql: Sql; databaseUrl: string }> {
    const { databaseUrl, stop } = await startDatabase();
    const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
    onTestFinished(async () => {
      await sql.end();
      await stop();
    });
    return { sql, databaseUrl };
  }

  test('tombstones expire after 90 days, and only copies older than that get reset', async () => {
    const { sql } = await ownDatabase();
    const list = async (since?: string) => {
      const [row] =
        await sql`select public.list_catalogue_changes(${JSON.stringify({ since })}::jsonb) as answer`;
      return row?.['answer'] as { data: Change[]; next: string; reset: boolean };
    };
    const doomed = await addSound(sql);
    const old = await list();
    await sql`delete from public.sounds where id = ${doomed}`;
    const recent = await list(old.next);
    expect(recent.data).toMatchObject([{ id: doomed, sound: null }]);
    const kept = await addSound(sql);
    await sql`update private.catalogue_changes set changed_at = now() - interval '89 days'`;
    await sql`select private.upkeep()`;
    expect((await list(old.next)).reset).toBe(false);
    await sql`update private.catalogue_changes set changed_at = now() - interval '91 days'`;
    await sql`select private.upkeep()`;
    expect(await list(old.next)).toMatchObject({ reset: true, data: [{ id: kept }] });
    expect(await list(recent.next)).toMatchObject({ reset: false, data: [{ id: kept }] });
    // A first copy that is still being read cannot hold rows that were removed before it began, so it needs no reset.
    const beginning = await list();
    expect((await list(`${beginning.next.split('.')[0]}.0.${beginning.next.split('.')[1]}`)).reset).toBe(
      false,
    );
  });

  test.for(['sounds', 'categories', 'home_sections', 'home_section_sounds'])(
    'a truncate of %s lets every copy begin anew',
    async (table) => {
      const { sql } = await ownDatabase();
      await addSound(sql, { category: await addCategory(sql) });
      const list = async (since?: string) => {
        const [row] =
          await sql`select public.list_catalogue_changes(${JSON.stringify({ since })}::jsonb) as answer`;
        return row?.['answer'] as { data: Change[]; next: string; reset: boolean };
      };
      const before = await list();
      expect((await list(before.next)).reset).toBe(false);
      await sql`truncate ${sql(`public.${table}`)} cascade`;
      const after = await list(before.next);
      expect(after.reset).toBe(true);
      expect(after.data.some(({ sound }) => sound !== null)).toBe(table.startsWith('home'));
      expect((await list(after.next)).reset).toBe(false);
    },
  );

  test('copies are equal in the end, however writers and readers overlap', async () => {
    const { sql, databaseUrl } = await ownDatabase();
    await checkCopies(sql, databaseUrl, 40);
  });
});
