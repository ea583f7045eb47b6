import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { addSound, newSlug } from '../support/catalogue.ts';
import { newEmail, type Sql, test } from '../support/test.ts';

const folder = 'supabase/snippets';
const [hidden, first, second] = [newSlug('hidden'), newSlug('first'), newSlug('second')];
const email = newEmail();

/** Adds rows for the snippets. Returns the values of their placeholders. */
async function addRows(sql: Sql) {
  await sql`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
  const [key] = await sql`select key_prefix from admin.create_api_key('Snippet', ${email})`;
  await sql`
    with section as (
      insert into public.home_sections (slug, title) values ('start-here', 'Start here')
      on conflict (slug) do update set title = excluded.title returning id
    ),
    sound as (
      insert into public.sounds (title, is_active)
      values (${first}, true), (${second}, true), (${hidden}, false) returning id, title
    ),
    counted as (insert into public.play_counts select id, 1 from sound),
    played as (insert into private.plays_by_day select id, current_date, 1 from sound),
    listened as (insert into private.listeners_by_day values (current_date, 1) on conflict do nothing),
    stored as (insert into storage.objects (bucket_id, name) values ('audio', 'unused.mp3') on conflict do nothing)
    insert into public.home_section_sounds
      select section.id, sound.id, 1000000 from section, sound where title = ${first}`;
  return {
    '<slug of the section>': 'start-here',
    '<title of the sound>': hidden,
    '<first title>': first,
    '<second title>': second,
    '<2030-01-04 09:30 Europe/Berlin>': new Date(Date.now() + 86_400_000).toISOString(),
    '<name>': 'Partner',
    '<e-mail address>': email,
    '<key_prefix>': String(key?.['key_prefix']),
    '7, 10)': '7, 2)',
  };
}

class Undo extends Error {}

/** Adds rows, runs a snippet with or without its edits, and rolls everything back. */
async function runSnippet(sql: Sql, file: string, isEdited: boolean): Promise<unknown[]> {
  let rows: unknown[] = [];
  const run = sql.begin(async (transaction) => {
    let text = readFileSync(`${folder}/${file}`, 'utf8').replaceAll(/^--.*\n/gm, '');
    const edits = Object.entries(await addRows(transaction as unknown as Sql));
    if (isEdited) for (const [placeholder, value] of edits) text = text.replaceAll(placeholder, value);
    if (file === 'publish_a_section_later.sql')
      await transaction`update public.home_sections set is_active = false where slug = 'start-here'`;
    rows = await transaction.unsafe(text);
    throw new Undo();
  });
  await expect(run).rejects.toThrow(isEdited ? Undo : /^$|<.*>/);
  return rows;
}

describe('the snippets for the SQL editor', () => {
  test.beforeEach(async ({ skip, sql, task: { name } }) => {
    const [cron] = await sql`select from pg_namespace where nspname = 'cron'`;
    skip(!cron && /later|night|scheduled|upkeep/.test(name), 'This project has no Supabase Cron.');
  });

  test.for(readdirSync(folder))(
    '%s runs, returns rows, and changes nothing until it is edited',
    async (file, { sql }) => {
      if (/^(fill|publish|arrange|deactivate|reactivate|issue|revoke)_/.test(file))
        expect(await runSnippet(sql, file, false)).toEqual([]);
      expect(await runSnippet(sql, file, true)).not.toEqual([]);
      expect(readFileSync(`${folder}/${file}`, 'utf8')).toMatch(/^-- [A-Z]/);
    },
  );

  test('docs/admin.md names every snippet and no other file', () => {
    const named = readFileSync('docs/admin.md', 'utf8').matchAll(/`(\w+\.sql)`/g);
    expect(new Set([...named].map(([, name]) => name))).toEqual(new Set(readdirSync(folder)));
  });

  test('publish_a_sound_later.sql schedules a job that publishes a sound once', async ({ sql }) => {
    const title = newSlug();
    const id = await addSound(sql, { title, is_active: false });
    const due = new Date(Math.ceil(Date.now() / 60_000 + 60 * 24 * 40) * 60_000);
    const snippet = readFileSync(`${folder}/publish_a_sound_later.sql`, 'utf8');
    await sql.unsafe(
      snippet
        .replace('<2030-01-04 09:30 Europe/Berlin>', due.toISOString())
        .replace("title = '<title of the sound>'", `title = '${title}'`),
    );
    const scheduled = () => sql`select due_at, command from admin.scheduled where job = ${`publish sound ${title}`}`;
    const [job] = await scheduled();
    expect(job?.['due_at']).toEqual(due);
    await sql.unsafe(job?.['command']);
    expect(await scheduled()).toEqual([]);
    expect(await sql`select is_active from public.sounds where id = ${id}`).toEqual([{ is_active: true }]);
  });

  test('admin.scheduled shows the hourly upkeep', async ({ sql }) => {
    const upkeep = { job: 'sounds-service upkeep', due_at: null, schedule: '7 * * * *', is_active: true };
    const command = 'select private.upkeep()';
    expect(await sql`select * from admin.scheduled where command = ${command}`).toEqual([{ ...upkeep, command }]);
  });
});
