import { expect } from 'vitest';
import { addCategory, newSlug } from '../support/catalogue.ts';
import { test } from '../support/test.ts';

test('GET /categories returns active intentions in order, with their sub-intentions', async ({ api, sql }) => {
  const next = await addCategory(sql, { slug: newSlug('a') });
  await sql`update public.categories set sort_order = 1 where slug = ${next}`;
  const parent = await addCategory(sql);
  const [late, early] = [`${parent}-late`, `${parent}-early`];
  for (const slug of [late, early]) await addCategory(sql, { parent, slug });
  await addCategory(sql, { parent, is_active: false });
  await sql`update public.categories set sort_order = -1, description = 'First' where slug = ${early}`;
  const { body } = await api.get('/categories').expect(200);
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const category = (slug: string) => ({ id, name: `Category ${slug}`, slug, description: null, sort_order: 0 });
  const slugs = body.data.map(({ slug }: { slug: string }) => slug);
  expect(slugs.indexOf(parent)).toBeLessThan(slugs.indexOf(next));
  expect(body.data.find(({ slug }: { slug: string }) => slug === parent)).toEqual({
    ...category(parent),
    children: [{ ...category(early), description: 'First', sort_order: -1 }, category(late)],
  });
});
