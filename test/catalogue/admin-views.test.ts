import { readdir, readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory, addSection, addSound } from '../support/catalogue.ts';
import { newEmail, type Sql, signUp, test } from '../support/test.ts';

describe('admin.home_explained', () => {
  const explain = (sql: Sql, section: string) =>
    sql`select position::int, sound, why from admin.home_explained where section = ${section}`;

  test('shows each section as GET /home serves it, and says why other sounds are not in it', async ({
    api,
    sql,
    user,
  }) => {
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

test('admin.api_keys shows the state of each key: live, expired, revoked, or its owner deactivated', async ({
  api,
  sql,
}) => {
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
    test(`${file} runs and returns rows`, async ({ skip, sql }) => {
      const text = await readFile(`${folder}/${file}`, 'utf8');
      const [cron] = await sql`select from pg_namespace where nspname = 'cron'`;
      skip(text.includes('cron.') && cron === undefined, 'This project has no Supabase Cron.');
      expect(text).toMatch(/^-- [A-Z]/);
      const email = newEmail();
      const run = sql.begin(async (transaction) => {
        await transaction`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
        const [key] = await transaction`select key_prefix from admin.create_api_key('Snippet', ${email})`;
        await transaction`
          with section as (
            insert into public.home_sections (slug, title) values ('start-here', 'Start here')
            on conflict (slug) do update set title = excluded.title returning id
          ),
          sound as (insert into public.sounds (title) values ('Without a file') returning id),
          counted as (insert into public.play_counts select id, 1 from sound),
          played as (insert into private.plays_by_day select id, current_date, 1 from sound),
          listened as (insert into private.listeners_by_day values (current_date, 1) on conflict do nothing),
          stored as (insert into storage.objects (bucket_id, name) values ('audio', 'unused.mp3') on conflict do nothing)
          insert into public.home_section_sounds select section.id, sound.id, 1000000 from section, sound`;
        const filled = text
          .replaceAll(/(owner|customer)@example\.com/g, email)
          .replaceAll('sk_live_xxxxxxxx', key?.['key_prefix']);
        expect(await transaction.unsafe(filled)).not.toHaveLength(0);
        throw new Undo();
      });
      await expect(run).rejects.toThrow(Undo);
    });
  }

  test('are all named in docs/admin.md, which names no others', async () => {
    const docs = await readFile('docs/admin.md', 'utf8');
    const named = new Set([...docs.matchAll(/`(\w+\.sql)`/g)].map(([, name]) => name));
    expect([...named].toSorted()).toEqual((await readdir(folder)).toSorted());
  });
});
