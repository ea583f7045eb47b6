import { readdir, readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory, addSection, addSound, newSlug } from '../support/catalogue.ts';
import { newEmail, type Sql, signUp, test } from '../support/test.ts';

describe('admin.home_explained', () => {
  const explain = (sql: Sql, section: string) =>
    sql`select position::int, sound, why from admin.home_explained where section = ${section}`;

  test('shows each section as GET /home does, and why sounds are missing', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    for (const [index, title] of ['First', 'Second', 'Third'].entries()) {
      await addSound(sql, { title, category, sort_order: index });
    }
    const hidden = await addSound(sql, { title: 'Hidden', category, is_active: false });
    const fields = { mode: 'rule', rule_type: 'category', rule_value: category, item_limit: 2 };
    const slug = await addSection(sql, fields);
    await sql`
      insert into public.home_section_sounds select id, ${hidden}, 1 from public.home_sections where slug = ${slug}`;
    expect(await explain(sql, slug)).toEqual([
      { position: 1, sound: 'First', why: 'Shown.' },
      { position: 2, sound: 'Second', why: 'Shown.' },
      { position: null, sound: 'Hidden', why: expect.any(String) },
      { position: null, sound: 'Hidden', why: expect.any(String) },
      { position: null, sound: 'Third', why: 'Not shown: beyond the item_limit of 2.' },
    ]);
    expect(
      (await explain(sql, slug))
        .slice(2, 4)
        .map((row) => row['why'])
        .toSorted(),
    ).toEqual(['Not shown: picks count only in mode manual.', 'Not shown: the sound is inactive.']);

    const { body }: { body: { sections: { slug: string; sounds: { title: string }[] }[] } } = await api
      .get('/home')
      .auth(user.access_token, bearer)
      .expect(200);
    const served = body.sections.find((section) => section.slug === slug);
    expect(served?.sounds.map(({ title }) => title)).toEqual(['First', 'Second']);
    const places = await sql`
      select distinct section_position::int as place, section from admin.home_explained
      where section_position is not null order by place`;
    const known = new Set(body.sections.map((section) => section.slug));
    expect(places.map((row) => row['section']).filter((name) => known.has(name))).toEqual([...known]);
  });

  test('says that a section is inactive or empty', async ({ sql }) => {
    const empty = await addSection(sql, { mode: 'manual' });
    expect(await explain(sql, empty)).toEqual([
      { position: null, sound: null, why: 'The section is empty: no sound fits it.' },
    ]);
    const inactive = await addSection(sql, { mode: 'rule', rule_type: 'newest', is_active: false });
    await addSound(sql);
    const rows = await explain(sql, inactive);
    expect(new Set(rows.map((row) => `${row['position']} ${row['why']}`))).toEqual(
      new Set(['null Not shown: the section is inactive.']),
    );
  });
});

test('admin.api_keys shows the state of each key', async ({ api, sql }) => {
  const [{ user }, deactivated] = [await signUp(api), await signUp(api)];
  const issue = async (name: string, email: string, expires: string | null = null) => {
    const [row] = await sql`select key_prefix from admin.create_api_key(${name}, ${email}, ${expires})`;
    return row?.['key_prefix'];
  };
  await issue('Live', user.email);
  const expired = await issue('Expired', user.email, '2999-01-01');
  await sql`update private.api_keys set expires_at = now() where key_prefix = ${expired}`;
  await sql`select admin.revoke_api_key(${await issue('Revoked', user.email)})`;
  await issue('Locked', deactivated.user.email);
  await sql`update public.customers set is_active = false where id = ${deactivated.user.id}`;
  const rows = await sql`
    select name, owner_email, state, last_used_at from admin.api_keys
    where owner_email in (${user.email}, ${deactivated.user.email}) order by name`;
  const of = (name: string, state: string, owner_email = user.email) => ({
    name,
    owner_email,
    state,
    last_used_at: null,
  });
  expect(rows).toEqual([
    of('Expired', 'expired'),
    of('Live', 'live'),
    of('Locked', 'owner deactivated', deactivated.user.email),
    of('Revoked', 'revoked'),
  ]);
});

describe('the snippets for the SQL editor', async () => {
  const folder = 'supabase/snippets';
  class Undo extends Error {}
  for (const file of await readdir(folder)) {
    const text = await readFile(`${folder}/${file}`, 'utf8');
    const placeholders: Record<string, string> = {
      '<slug of the section>': 'start-here',
      '<title of the sound>': newSlug('hidden'),
      '<first title>': newSlug('first'),
      '<second title>': newSlug('second'),
      '<2030-01-04 09:30 Europe/Berlin>': new Date(Date.now() + 86_400_000).toISOString(),
      '<name>': 'Partner',
    };
    const [hidden = '', first = '', second = ''] = Object.values(placeholders).slice(1);

    /** Runs the snippet among rows that it can concern, and undoes everything. */
    const runSnippet = async (
      sql: Sql,
      edit: (statement: string, replace: Record<string, string>) => string,
    ) => {
      let rows: unknown[] = [];
      const run = sql.begin(async (transaction) => {
        const email = newEmail();
        await transaction`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
        const [key] = await transaction`select key_prefix from admin.create_api_key('Snippet', ${email})`;
        await transaction`
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
        if (file === 'publish_a_section_later.sql')
          await transaction`update public.home_sections set is_active = false where slug = 'start-here'`;
        const replace = {
          ...placeholders,
          '<e-mail address>': email,
          '<key_prefix>': key?.['key_prefix'],
        };
        const statement = text.replaceAll(/^--.*\n/gm, '').replace('7, 10)', '7, 2)');
        rows = await transaction.unsafe(edit(statement, replace));
        throw new Undo();
      });
      await run.catch((error) => {
        if (!(error instanceof Undo)) throw error;
      });
      return rows;
    };

    const needsCron = text.includes('cron.') || text.includes('admin.scheduled');
    const isMissing = async (sql: Sql) =>
      needsCron && (await sql`select from pg_namespace where nspname = 'cron'`).length === 0;

    test(`${file} runs and returns rows`, async ({ skip, sql }) => {
      skip(await isMissing(sql), 'This project has no Supabase Cron.');
      expect(text).toMatch(/^-- [A-Z]/);
      const edited = (statement: string, replace: Record<string, string>) =>
        Object.entries(replace).reduce((result, [from, to]) => result.replaceAll(from, to), statement);
      expect(await runSnippet(sql, edited)).not.toHaveLength(0);
    });

    if (/^(fill|publish|arrange|deactivate|reactivate|issue|revoke)_/.test(file))
      test(`${file} changes nothing until it is edited`, async ({ skip, sql }) => {
        skip(await isMissing(sql), 'This project has no Supabase Cron.');
        const outcome = await runSnippet(sql, (statement) => statement).catch(
          (error: Error) => error.message,
        );
        expect(outcome).toSatisfy(
          (value) => (Array.isArray(value) && value.length === 0) || /<.*>/.test(String(value)),
        );
      });
  }

  test('docs/admin.md names every snippet and no other', async () => {
    const docs = await readFile('docs/admin.md', 'utf8');
    const named = new Set([...docs.matchAll(/`(\w+\.sql)`/g)].map(([, name]) => name));
    expect([...named].toSorted()).toEqual((await readdir(folder)).toSorted());
  });
});

describe('admin.arrange_section', () => {
  const arrange = (sql: Sql, slug: string, titles: string[]) =>
    sql`select place, title from admin.arrange_section(${slug}, ${titles})`;

  test('puts exactly the named sounds into the section, in that order', async ({ sql }) => {
    const slug = await addSection(sql, { mode: 'manual' });
    const [first, second, third] = [newSlug(), newSlug(), newSlug()];
    for (const title of [first, second, third]) await addSound(sql, { title });
    await arrange(sql, slug, [first, second]);
    expect(await arrange(sql, slug, [third, first])).toEqual([
      { place: 1, title: third },
      { place: 2, title: first },
    ]);
    const rows = await sql`select sound from admin.home_explained where section = ${slug}`;
    expect(rows.map((row) => row['sound'])).toEqual([third, first]);
  });

  test('names unknown and ambiguous titles, and leaves the section as it is', async ({ sql }) => {
    const slug = await addSection(sql, { mode: 'manual' });
    const [one, twice, unknown] = [newSlug(), newSlug(), newSlug()];
    for (const title of [one, twice, twice]) await addSound(sql, { title });
    await arrange(sql, slug, [one]);
    const attempt = arrange(sql, slug, [one, twice, unknown]);
    await expect(attempt).rejects.toThrow(`"${twice}" is the title of 2 sounds`);
    await expect(attempt).rejects.toThrow(`"${unknown}" is the title of 0 sounds`);
    expect(await sql`select sound from admin.home_explained where section = ${slug}`).toEqual([
      { sound: one },
    ]);
    await expect(arrange(sql, newSlug(), [one])).rejects.toThrow('There is no home section');
  });
});

describe('admin.scheduled', () => {
  test('shows when a scheduled sound is published, and its job publishes it once', async ({ sql, skip }) => {
    const [cron] = await sql`select from pg_namespace where nspname = 'cron'`;
    skip(cron === undefined, 'This project has no Supabase Cron.');
    const title = newSlug();
    const id = await addSound(sql, { title, is_active: false });
    const due = new Date(Math.ceil(Date.now() / 60_000 + 60 * 24 * 40) * 60_000);
    const snippet = await readFile('supabase/snippets/publish_a_sound_later.sql', 'utf8');
    await sql.unsafe(
      snippet
        .replace('<2030-01-04 09:30 Europe/Berlin>', due.toISOString())
        .replace("title = '<title of the sound>'", `title = '${title}'`),
    );
    const scheduled = () =>
      sql`select due_at, command from admin.scheduled where job = ${`publish sound ${title}`}`;
    const [row] = await scheduled();
    expect(row?.['due_at']).toEqual(due);
    await sql.unsafe(row?.['command']);
    expect(await scheduled()).toEqual([]);
    expect(await sql`select is_active from public.sounds where id = ${id}`).toEqual([{ is_active: true }]);
  });

  test('shows the hourly upkeep', async ({ sql, skip }) => {
    const [cron] = await sql`select from pg_namespace where nspname = 'cron'`;
    skip(cron === undefined, 'This project has no Supabase Cron.');
    expect(await sql`select * from admin.scheduled where command = 'select private.upkeep()'`).toEqual([
      {
        job: 'sounds-service upkeep',
        due_at: null,
        schedule: '7 * * * *',
        is_active: true,
        command: 'select private.upkeep()',
      },
    ]);
  });
});
