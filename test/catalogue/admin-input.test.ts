import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory, addSound, newSlug } from '../support/catalogue.ts';
import { test } from '../support/test.ts';

test('an empty text in an optional field of a sound becomes NULL', async ({ sql }) => {
  const id = await addSound(sql, { description: '', audio_path: '', category: '', cover_image_path: '' });
  await sql`update public.sounds set bowl_note = '' where id = ${id}`;
  const [row] = await sql`
    select description, bowl_note, category, audio_path, cover_image_path from public.sounds where id = ${id}`;
  expect(Object.values(row ?? {})).toEqual([null, null, null, null, null]);
});

describe('a value that an admin enters', () => {
  test('rejects an invalid value with a name or message that says why', async ({ sql }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const sound = await addSound(sql);
    const sectionInsert = (fields: object) =>
      sql`insert into public.home_sections ${sql({ slug: newSlug(), title: 'Section', ...fields })}`;
    const soundInsert = (fields: object) =>
      sql`insert into public.sounds ${sql({ title: 'Sound', ...fields })}`;
    for (const [attempt, message] of [
      [
        () => sql`insert into public.categories (slug, name) values ('Deep Sleep', 'x')`,
        'slug_is_lower_case_words',
      ],
      [() => sql`insert into public.categories (slug, name) values ('', 'x')`, 'slug_is_lower_case_words'],
      [
        () => sql`insert into public.categories (slug, name) values (${'a'.repeat(101)}, 'x')`,
        'slug_is_lower_case_words',
      ],
      [
        () => sql`insert into public.categories (slug, name, description) values (${newSlug()}, 'x', '')`,
        'category_description_is_not_blank',
      ],
      [
        () => sql`
          update public.categories set parent_id = (select id from public.categories where slug = ${child})
          where slug = ${parent}`,
        'cannot lie under',
      ],
      [() => sql`insert into public.categories (slug, name) values (${newSlug()}, ' ')`, 'name_is_trimmed'],
      [() => sql`update public.categories set parent_id = id where slug = ${parent}`, 'cannot lie under'],
      [() => addCategory(sql, { parent: child }), 'cannot lie under a sub-intention'],
      [() => sql`delete from public.categories where slug = ${parent}`, 'has_no_children_when_deleted'],
      [() => soundInsert({ title: '' }), 'title_is_trimmed'],
      [() => soundInsert({ title: '\u200b' }), 'title_is_trimmed_visible'],
      [() => soundInsert({ title: 'x'.repeat(201) }), 'has_1_to_200_characters'],
      [() => soundInsert({ description: 'x'.repeat(5001) }), 'has_at_most_5000_characters'],
      [() => soundInsert({ created_at: null }), 'null value in column "created_at"'],
      [() => soundInsert({ duration_sec: -1 }), 'duration_sec_is_above_0'],
      [() => soundInsert({ duration_sec: 'NaN' }), 'duration_sec_is_above_0'],
      [() => soundInsert({ frequency_hz: 0 }), 'frequency_hz_is_above_0'],
      [() => soundInsert({ frequency_hz: 'NaN' }), 'frequency_hz_is_above_0'],
      [() => soundInsert({ frequency_hz: 'Infinity' }), 'frequency_hz_is_above_0'],
      [() => soundInsert({ audio_path: 'a b.mp3' }), 'audio_path_has_url_safe_characters'],
      [() => soundInsert({ audio_path: 'bowl#1.mp3' }), 'audio_path_has_url_safe_characters'],
      [() => soundInsert({ audio_path: 'no-extension' }), 'and_an_extension'],
      [() => soundInsert({ cover_image_path: '/a.jpg' }), 'cover_image_path_has_url_safe_characters'],
      [() => soundInsert({ cover_image_path: '../a.jpg' }), 'cover_image_path_has_url_safe_characters'],
      [() => soundInsert({ category: newSlug() }), 'category_is_the_slug_of_an_existing_category'],
      [
        () => sql`insert into public.sounds (title, created_at) values ('x', 'infinity')`,
        'created_at_lies_between',
      ],
      [() => soundInsert({ created_at: '1960-01-01' }), 'created_at_lies_between'],
      [() => sql`insert into public.sounds (title, tags) values ('x', array['a', null])`, 'tags_are'],
      [() => sql`insert into public.sounds (title, tags) values ('x', array['a', ''])`, 'tags_are'],
      [() => sql`insert into public.sounds (title, tags) values ('x', array[' a'])`, 'tags_are'],
      [
        () => sql`insert into public.sounds (title, tags) values ('x', array_fill('a'::text, array[51]))`,
        'at_most_50',
      ],
      [() => sectionInsert({ title: '\ufeff' }), 'section_title_is_trimmed_visible'],
      [() => sectionInsert({ slug: 'a--b' }), 'section_slug_is_lower_case_words_joined_by_hyphens'],
      [() => sectionInsert({ mode: '' }), 'mode_is_manual_or_rule'],
      [() => sectionInsert({ mode: 'rule' }), 'has_a_rule_type'],
      [() => sectionInsert({ mode: 'manual', rule_type: 'newest' }), 'manual_section_has_no_rule'],
      [() => sectionInsert({ mode: 'rule', rule_type: 'category' }), 'rule_value_is_a_category_slug'],
      [
        () => sectionInsert({ mode: 'rule', rule_type: 'newest', rule_value: '' }),
        'rule_value_is_a_category_slug_for_category_rules_and_null_else',
      ],
      [
        () => sectionInsert({ mode: 'rule', rule_type: 'category', rule_value: newSlug() }),
        'No category has the slug',
      ],
      [() => sectionInsert({ mode: 'rule', rule_type: 'newest', item_limit: 0 }), 'item_limit_lies_between'],
      [
        async () => sql`with section as (insert into public.home_sections (slug, title) values (${newSlug()}, 'x') returning id)
          insert into public.home_section_sounds select id, sound_id, 1
          from section, unnest(array[${sound}, ${await addSound(sql)}]::uuid[]) as sound_id`,
        'position_is_taken_once_in_its_section',
      ],
    ] as const) {
      await expect(attempt()).rejects.toThrow(message);
    }
  });

  test('sounds follow a renamed category, and lose a deleted one', async ({ sql }) => {
    const slug = await addCategory(sql);
    const id = await addSound(sql, { category: slug });
    const renamed = newSlug();
    await sql`update public.categories set slug = ${renamed} where slug = ${slug}`;
    expect(await sql`select category from public.sounds where id = ${id}`).toEqual([{ category: renamed }]);
    await sql`delete from public.categories where slug = ${renamed}`;
    expect(await sql`select category from public.sounds where id = ${id}`).toEqual([{ category: null }]);
  });

  test('a value at the limits of its field is served as it was entered', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const typed = [
      {
        title: '𝄞'.repeat(200),
        description: `Two\nlines "quoted" \\ <b>\u2028${'x'.repeat(4900)}`,
        bowl_note: 'A♯4',
        frequency_hz: 0.001,
        duration_sec: 86_400,
        tags: Array(50).fill('ä'.repeat(100)),
        sort_order: -2_147_483_648,
        cover_image_path: 'a/b/c.d_e-f.JPG',
        created_at: '1970-01-01T00:00:00Z',
      },
      { title: '0', tags: [], frequency_hz: 100_000, duration_sec: 0.001, sort_order: 2_147_483_647 },
      {
        title: 'null',
        description: null,
        bowl_note: null,
        frequency_hz: null,
        duration_sec: null,
        tags: null,
      },
    ];
    for (const row of typed) await sql`insert into public.sounds ${sql({ ...row, category })}`;
    const { body } = await api.get('/sounds').query({ category }).auth(user.access_token, bearer).expect(200);
    const inOrder = typed.toSorted((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0));
    expect(body.data).toHaveLength(3);
    for (const [index, { sort_order, cover_image_path, created_at, ...fields }] of inOrder.entries()) {
      expect(body.data[index]).toMatchObject({
        ...fields,
        ...(cover_image_path && { cover_image_url: `covers/${cover_image_path}` }),
        // Some milliseconds later where an earlier run has taken the very first.
        ...(created_at && { created_at: expect.stringMatching(/^1970-01-01T00:00:00\.\d{3}Z$/) }),
      });
    }
  });

  test('a category under an inactive parent is not served', async ({ api, sql }) => {
    const parent = await addCategory(sql, { is_active: false });
    const child = await addCategory(sql, { parent });
    const served = async () => JSON.stringify((await api.get('/categories')).body).includes(child);
    expect(await served()).toBe(false);
    await sql`update public.categories set is_active = true where slug = ${parent}`;
    expect(await served()).toBe(true);
  });
});
