import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSection, addSound, addSounds, newSlug } from '../support/catalogue.ts';
import { type Session, test } from '../support/test.ts';

type Section = { slug: string; sounds: { id: string }[]; [field: string]: unknown };
type Home = { sections: Section[] };

async function sectionOf(api: Api, user: Session, slug: string) {
  const { body }: { body: Home } = await api.get('/home').auth(user.access_token, bearer).expect(200);
  return body.sections.find((section) => section.slug === slug);
}

const idsOf = (section: Section | undefined) => section?.sounds.map(({ id }) => id);

describe('GET /home', () => {
  test('a manual section shows its picks by position', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const [second, hidden, first] = await addSounds(sql, [
      { title: 'Second' },
      { title: 'Hidden', is_active: false },
      { title: 'First', category, cover_image_path: 'first.jpg', duration_sec: 30 },
    ]);
    const slug = await addSection(sql, { mode: 'manual' });
    await sql`
      insert into public.home_section_sounds (section_id, sound_id, position)
      select id, picks.sound_id, picks.position
      from public.home_sections, (values (${first ?? ''}::uuid, 1), (${hidden ?? ''}::uuid, 2), (${second ?? ''}::uuid, 7))
        as picks (sound_id, position)
      where slug = ${slug}`;
    expect(await sectionOf(api, user, slug)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      slug,
      title: `Section ${slug}`,
      mode: 'manual',
      rule_type: null,
      rule_value: null,
      rule_include_children: false,
      sounds: [
        { id: first, title: 'First', category, cover_image_url: 'covers/first.jpg', duration_sec: 30 },
        { id: second, title: 'Second', category: null, cover_image_url: null, duration_sec: null },
      ],
    });
  });

  test('a category rule shows sub-intentions only when asked to', async ({ api, sql, user }) => {
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
    const family = await addSection(sql, { ...rule, rule_include_children: true });
    expect(idsOf(await sectionOf(api, user, alone))).toEqual([first, last]);
    expect(idsOf(await sectionOf(api, user, family))).toEqual([first, ofChild, last]);
    expect(await sectionOf(api, user, family)).toMatchObject(rule);
  });

  test('a featured rule keeps list order, a newest rule the newest first', async ({ api, sql, user }) => {
    const created_at = '2999-01-01T00:00:00Z'; // ahead of whatever other tests add
    const [featured, newest] = await addSounds(sql, [
      { is_featured: true, sort_order: -2_000_000_000 },
      { created_at },
    ]);
    const featuredSection = await addSection(sql, { mode: 'rule', rule_type: 'featured', item_limit: 1 });
    const newestSection = await addSection(sql, { mode: 'rule', rule_type: 'newest', item_limit: 1 });
    expect(idsOf(await sectionOf(api, user, featuredSection))).toEqual([featured]);
    expect(idsOf(await sectionOf(api, user, newestSection))).toEqual([newest]);
  });

  test('a rule section shows 20 sounds by default, a manual one all', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(25).fill({ category }));
    const rule = { mode: 'rule', rule_type: 'category', rule_value: category };
    const bySize = async (fields: Record<string, unknown>) =>
      idsOf(await sectionOf(api, user, await addSection(sql, fields)))?.length;
    expect(await bySize(rule)).toBe(20);
    expect(await bySize({ ...rule, item_limit: 3 })).toBe(3);

    const manual = await addSection(sql, { mode: 'manual' });
    await sql`
      insert into public.home_section_sounds (section_id, sound_id, position)
      select section.id, sound.id, row_number() over ()
      from public.home_sections as section, public.sounds as sound
      where section.slug = ${manual} and sound.category = ${category}`;
    expect(idsOf(await sectionOf(api, user, manual))?.toSorted()).toEqual(ids.toSorted());
  });

  test('active sections come in display order, also empty ones', async ({ api, sql, user }) => {
    const late = await addSection(sql, { mode: 'manual', sort_order: 11 });
    const early = await addSection(sql, { mode: 'manual', sort_order: 10 });
    const hidden = await addSection(sql, { mode: 'manual', is_active: false });
    const { body }: { body: Home } = await api.get('/home').auth(user.access_token, bearer);
    const mine = body.sections.filter(({ slug }) => [late, early, hidden].includes(slug));
    expect(mine.map(({ slug, sounds }) => [slug, sounds])).toEqual([
      [early, []],
      [late, []],
    ]);
  });

  test('a rule follows its renamed category and prevents its deletion', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const id = await addSound(sql, { category });
    const slug = await addSection(sql, { mode: 'rule', rule_type: 'category', rule_value: category });
    const renamed = newSlug('renamed');
    await sql`update public.categories set slug = ${renamed} where slug = ${category}`;
    expect(await sectionOf(api, user, slug)).toMatchObject({ rule_value: renamed, sounds: [{ id }] });
    await expect(sql`delete from public.categories where slug = ${renamed}`).rejects.toThrow(
      'A home section shows',
    );
  });
});
