import { describe, expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { addCategory, addSection, addSound, addSounds, barePreview, newSlug } from '../support/catalogue.ts';
import { type Sql, test } from '../support/test.ts';

interface Section {
  slug: string;
  sounds: { id: string }[];
  [field: string]: unknown;
}

async function sectionsOf(app: Api, ...slugs: string[]): Promise<Section[]> {
  const { body } = await app.get('/home').expect(200);
  return body.sections.filter(({ slug }: Section) => slugs.includes(slug));
}

const idsOf = async (app: Api, slug: string) => (await sectionsOf(app, slug))[0]?.sounds.map(({ id }) => id) ?? [];

/** Adds a section with these sounds at the positions 1, 3, 5 and so on. */
async function addManualSection(sql: Sql, ids: string[], fields: object = {}) {
  const slug = await addSection(sql, { mode: 'manual', ...fields });
  await sql`
    insert into public.home_section_sounds (section_id, sound_id, position)
    select section.id, pick.id, 2 * position - 1
    from public.home_sections as section, unnest(${ids}::uuid[]) with ordinality as pick (id, position)
    where slug = ${slug}`;
  return slug;
}

describe('GET /home', () => {
  test('returns active sections in order, manual ones with their active sounds', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const shown = {
      title: 'First',
      category,
      duration_sec: 30,
      cover_placeholder: 'k7kMBYA3eYiAd4iAiA==',
      is_premium: true,
    };
    const [second = '', hidden = '', first = ''] = await addSounds(sql, [
      { title: 'Second' },
      { is_active: false },
      { ...shown, cover_image_path: 'first.jpg' },
    ]);
    const late = await addSection(sql, { mode: 'manual', sort_order: 11 });
    const slug = await addManualSection(sql, [first, hidden, second], { sort_order: 10 });
    const inactive = await addManualSection(sql, [first], { is_active: false });
    const section = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      mode: 'manual',
      rule_type: null,
      rule_value: null,
      rule_include_children: false,
    };
    const sounds = [
      { id: first, ...shown, cover_image_url: 'covers/first.jpg' },
      { id: second, title: 'Second', ...barePreview },
    ];
    expect(await sectionsOf(app, late, slug, inactive)).toEqual([
      { ...section, slug, title: `Section ${slug}`, sounds },
      { ...section, slug: late, title: `Section ${late}`, sounds: [] },
    ]);
  });

  test('a category rule returns the sounds of its category, optionally with sub-intentions', async ({ app, sql }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const [last, first, ofChild] = await addSounds(sql, [
      { category: parent, sort_order: 9 },
      { category: parent, sort_order: 1 },
      { category: child, sort_order: 5 },
    ]);
    await addSound(sql, { category: parent, is_active: false });
    const rule = { mode: 'rule', rule_type: 'category', rule_value: parent };
    const alone = await addSection(sql, rule);
    const wide = { ...rule, rule_include_children: true };
    const family = await addSection(sql, wide);
    expect(await idsOf(app, alone)).toEqual([first, last]);
    const renamed = newSlug('renamed');
    await sql`update public.categories set slug = ${renamed} where slug = ${parent}`;
    expect(await sectionsOf(app, family)).toMatchObject([{ ...wide, rule_value: renamed }]);
    expect(await idsOf(app, family)).toEqual([first, ofChild, last]);
  });

  test('a featured rule uses list order, and a newest rule returns the newest sounds first', async ({ app, sql }) => {
    const created_at = '2999-01-01T00:00:00Z'; // later than the sounds of other tests
    const [featured, newest] = await addSounds(sql, [
      { is_featured: true, sort_order: -2_000_000_000 },
      { created_at },
    ]);
    const rule = { mode: 'rule', item_limit: 1 };
    expect(await idsOf(app, await addSection(sql, { ...rule, rule_type: 'featured' }))).toEqual([featured]);
    expect(await idsOf(app, await addSection(sql, { ...rule, rule_type: 'newest' }))).toEqual([newest]);
  });

  test('a rule section has 20 sounds by default, and a manual section has all its sounds', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(25).fill({ category }));
    const rule = { mode: 'rule', rule_type: 'category', rule_value: category };
    expect(await idsOf(app, await addSection(sql, rule))).toHaveLength(20);
    expect(await idsOf(app, await addSection(sql, { ...rule, item_limit: 3 }))).toHaveLength(3);
    expect(await idsOf(app, await addManualSection(sql, ids))).toEqual(ids);
  });
});
