import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { addSection, addSound, addSounds, newSlug } from '../support/catalogue.ts';
import { newEmail, type Sql, test } from '../support/test.ts';

const folder = 'supabase/snippets';
const [hidden, first, second] = [newSlug('hidden'), newSlug('first'), newSlug('second')];
const email = newEmail();
const placeholderOfMoment = '<YYYY-MM-DD HH:MM Europe/Berlin>';

/** Adds rows for the snippets. Returns the values of their placeholders. */
async function addRows(sql: Sql) {
  await sql`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
  const [key] = await sql`select key_prefix from admin.create_api_key('Snippet', ${email})`;
  const trashed = await addSound(sql, { is_active: false, deleted_at: new Date().toISOString() });
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
  const [edit] = await sql`select change from admin.recent_edits limit 1`;
  return {
    '<slug of the section>': 'start-here',
    '<title of the sound>': hidden,
    '<first title>': first,
    '<second title>': second,
    [placeholderOfMoment]: new Date(Date.now() + 86_400_000).toISOString(),
    '<id of the row>': trashed,
    '<name>': 'Partner',
    '<e-mail address>': email,
    '<change>': String(edit?.['change']),
    '<key_prefix>': String(key?.['key_prefix']),
    '7, 10)': '7, 2)',
  };
}

class Undo extends Error {}

/**
 * Adds rows, runs a snippet with values for its placeholders, and rolls everything back.
 * @param forgotten placeholder that stays as it is
 */
async function runSnippet(sql: Sql, file: string, forgotten?: string): Promise<unknown[]> {
  let rows: unknown[] = [];
  const run = sql.begin(async (transaction) => {
    let text = readFileSync(`${folder}/${file}`, 'utf8').replaceAll(/^--.*\n/gm, '');
    const values = await addRows(transaction as unknown as Sql);
    for (const [placeholder, value] of Object.entries(values))
      if (placeholder !== forgotten) text = text.replaceAll(placeholder, value);
    if (file === 'publish_a_section_later.sql')
      await transaction`update public.home_sections set is_active = false where slug = 'start-here'`;
    if (file === 'hide_a_sound_later.sql')
      await transaction`update public.sounds set is_active = true where title = ${hidden}`;
    rows = await transaction.unsafe(text);
    throw new Undo();
  });
  await run.catch((error) => {
    if (!(error instanceof Undo)) throw error;
  });
  return rows;
}

describe('the snippets for the SQL editor', () => {
  test.beforeEach(async ({ skip, sql, task: { name } }) => {
    const [cron] = await sql`select from pg_namespace where nspname = 'cron'`;
    skip(!cron && /later|night|scheduled|upkeep|published/.test(name), 'This project has no Supabase Cron.');
  });

  test.for(readdirSync(folder))('%s runs, returns rows, and rejects each placeholder', async (file, { sql }) => {
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    for (const [placeholder] of text.replaceAll(/^--.*\n/gm, '').matchAll(/<[^<>=]+>/g))
      await expect(runSnippet(sql, file, placeholder), placeholder).rejects.toThrow(placeholder);
    expect(await runSnippet(sql, file)).not.toEqual([]);
    expect(text).toMatch(/^-- [A-Z]/);
  });

  test('docs/admin.md names every snippet and no other file', () => {
    const named = readFileSync('docs/admin.md', 'utf8').matchAll(/`(\w+\.sql)`/g);
    expect(new Set([...named].map(([, name]) => name))).toEqual(new Set(readdirSync(folder)));
  });

  test('explain_one_home_section lists sounds by position, then those that are not shown', async ({ sql }) => {
    const slug = newSlug('explained');
    const ids = await addSounds(sql, [{ is_active: false, title: 'A' }, { title: 'C' }, { title: 'B' }]);
    await addSection(sql, { slug });
    await sql`
      insert into public.home_section_sounds (section_id, sound_id, position)
      select section.id, pick.id, 10 * pick.place from public.home_sections as section
        cross join unnest(${ids}::uuid[]) with ordinality as pick (id, place) where slug = ${slug}`;
    const text = readFileSync(`${folder}/explain_one_home_section.sql`, 'utf8').replace('<slug of the section>', slug);
    // With statistics of few sounds, Postgres joins by a hash table, which does not keep the order of the view.
    await sql`analyze public.sounds, public.home_sections, public.home_section_sounds`;
    const rows = await sql.unsafe(text);
    expect(rows.map(({ sound }): string => sound)).toEqual(['C', 'B', 'A']);
  });

  test('fill_a_home_section_every_night rejects a section with a rule at once', async ({ sql }) => {
    const slug = newSlug('rule');
    await addSection(sql, { slug, mode: 'rule', rule_type: 'featured' });
    const text = readFileSync(`${folder}/fill_a_home_section_every_night.sql`, 'utf8');
    await expect(sql.unsafe(text.replaceAll('<slug of the section>', slug))).rejects.toThrow(
      `No home section "${slug}" has mode manual.`,
    );
  });

  /** Runs a snippet that schedules a change. @param key title or slug @param due moment @returns the scheduled jobs */
  const schedule = async (sql: Sql, file: string, key: string, due: string) => {
    const text = readFileSync(`${folder}/${file}.sql`, 'utf8').replace(/<(title|slug) of the \w+>/, key);
    const rows = await sql.unsafe(text.replace(placeholderOfMoment, due));
    return rows.map(({ job }): string => job);
  };
  const inDays = (days: number) => new Date(Math.ceil(Date.now() / 60_000 + 60 * 24 * days) * 60_000);

  test.for(['sound', 'section'])('%ss are published and hidden once, by a job named by id', async (kind, { sql }) => {
    const [key, table] = kind === 'sound' ? [`Don't ${newSlug()}`, 'sounds'] : [newSlug(), 'home_sections'];
    const added =
      kind === 'sound'
        ? await addSounds(sql, [
            { title: key, is_active: false },
            { title: key, is_active: false },
          ])
        : (
            await sql`insert into public.home_sections (slug, title, is_active) values (${key}, 'x', false) returning id`
          ).map(({ id }): string => id);
    const states = () => sql`select is_active from public.${sql(table)} where id = any (${added})`;
    for (const [action, is_active] of [
      ['publish', true],
      ['hide', false],
    ] as const) {
      const due = inDays(40);
      const jobs = await schedule(sql, `${action}_a_${kind}_later`, key, due.toISOString());
      expect(jobs.toSorted()).toEqual(added.map((id) => `${action} ${kind} ${id}`).toSorted());
      const pending = () => sql`select due_at, command from admin.scheduled where job = any (${jobs})`;
      for (const { due_at, command } of await pending()) {
        expect(due_at).toEqual(due);
        await sql.unsafe(command);
      }
      expect(await pending()).toEqual([]);
      expect(await states()).toEqual(added.map(() => ({ is_active })));
    }
  });

  test('a publication later leaves a row of the trash alone', async ({ sql }) => {
    const title = newSlug();
    const id = await addSound(sql, { title, is_active: false });
    const jobs = await schedule(sql, 'publish_a_sound_later', title, inDays(1).toISOString());
    await sql`delete from public.sounds where id = ${id}`;
    const [job] = await sql`select command from admin.scheduled where job = any (${jobs})`;
    await sql.unsafe(job?.['command']);
    const [sound] =
      await sql`select is_active, deleted_at is not null as is_deleted from public.sounds where id = ${id}`;
    expect(sound).toEqual({ is_active: false, is_deleted: true });
  });

  test.for([inDays(-1), new Date(), inDays(365), inDays(3 * 365)].map((due) => due.toISOString()))(
    'a publication at %s is rejected',
    async (due, { sql }) => {
      const title = newSlug();
      await addSound(sql, { title, is_active: false });
      await expect(schedule(sql, 'publish_a_sound_later', title, due)).rejects.toThrow(
        'is not within the next 364 days',
      );
    },
  );

  test('a sound or section that is in this state already, or another kind or id, is rejected', async ({ sql }) => {
    const title = newSlug();
    await addSound(sql, { title });
    const due = inDays(1).toISOString();
    await expect(schedule(sql, 'publish_a_sound_later', title, due)).rejects.toThrow(`"${title}" is active already.`);
    await expect(schedule(sql, 'hide_a_section_later', 'no-such', due)).rejects.toThrow('"no-such"');
    const call = (kind: string) => sql`select admin.schedule_activation(${kind}, gen_random_uuid(), true, ${due})`;
    for (const kind of ['sound', 'section'])
      await expect(call(kind)).rejects.toThrow(`There is no ${kind} with this id`);
    await expect(call('category')).rejects.toThrow('It must be sound or section.');
  });

  test('admin.scheduled shows jobs on days that are rare or never come', async ({ sql }) => {
    const due = async (schedule: string) => {
      let found: unknown;
      await sql
        .begin(async (transaction) => {
          await transaction`select cron.schedule('rare', ${schedule}, 'select 1')`;
          [found] = (await transaction`select due_at from admin.scheduled where job = 'rare'`).map(
            (row) => row['due_at'],
          );
          throw new Undo();
        })
        .catch((error) => expect(error).toBeInstanceOf(Undo));
      return found;
    };
    const year = new Date().getUTCFullYear();
    const leapDays = Array.from({ length: 9 }, (_, n) => new Date(Date.UTC(year + n, 1, 29, 9, 5)));
    const next = leapDays.find((day) => day.getUTCMonth() === 1 && day > new Date());
    expect(await due('5 9 29 2 *')).toEqual(next);
    for (const never of ['0 5 31 2 *', '0 5 31 4 *', '0 5 30 2 *']) expect(await due(never)).toBeNull();
    expect(await due('59 23 31 12 *')).toEqual(new Date(Date.UTC(year, 11, 31, 23, 59)));
    expect(await due('59 23 31 12 1')).toBeNull();
  });

  test('admin.scheduled shows the hourly upkeep', async ({ sql }) => {
    const upkeep = { job: 'sounds-service upkeep', due_at: null, schedule: '7 * * * *', is_active: true };
    const command = 'select private.upkeep()';
    expect(await sql`select * from admin.scheduled where command = ${command}`).toEqual([{ ...upkeep, command }]);
  });
});

describe('moments that a person writes', () => {
  const given = (sql: Sql, moment: string | null) => sql`select * from admin.give_premium(${email}, ${moment})`;

  test('the snippets show moments in UTC and in their zone, and give premium until them', async ({ sql }) => {
    await sql`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
    for (const [moment, utc, there] of [
      ['2030-01-04 09:30 Europe/Berlin', '2030-01-04 08:30 UTC', '2030-01-04 09:30 Europe/Berlin'],
      [
        '2030-07-04T09:30:00 America/Argentina/Salta',
        '2030-07-04 12:30 UTC',
        '2030-07-04 09:30 America/Argentina/Salta',
      ],
      ['2030-01-04 09:30 UTC', '2030-01-04 09:30 UTC', '2030-01-04 09:30 UTC'],
      ['2030-01-04T09:30:00.000Z', '2030-01-04 09:30 UTC', '2030-01-04 09:30 UTC'],
      ['2030-01-04 09:30 +05:30', '2030-01-04 04:00 UTC', '2030-01-04 09:30 +05:30'],
      ['2030-01-04 09:30:00.5-03', '2030-01-04 12:30 UTC', '2030-01-04 09:30 -03:00'],
      ['infinity', 'infinity', null],
      [null, 'no premium given', null],
    ] as const)
      expect(await given(sql, moment), String(moment)).toEqual([
        { customer: email, until_in_utc: utc, until_there: there },
      ]);
    await expect(sql`select admin.give_premium('nobody@example.com', 'infinity')`).rejects.toThrow(
      'nobody@example.com',
    );
  });

  test.for([
    '2026-12-24 18:00 IST',
    '2026-12-24 18:00 CET',
    '2026-12-24 18:00',
    '2026-12-24',
    '24.12.2026 18:00 UTC',
    '12/24/2026 18:00 UTC',
    'tomorrow',
    '-infinity',
    placeholderOfMoment,
    '',
  ])('%s is rejected', async (moment, { sql }) => {
    await expect(given(sql, moment)).rejects.toThrow('is not a moment');
  });
});
