import { expect } from 'vitest';
import { addCategory } from '../support/catalogue.ts';
import { test } from '../support/test.ts';

test('GET /categories returns active intentions in order, with sub-intentions', async ({ api, sql }) => {
  const parent = await addCategory(sql);
  const [late, early] = [`${parent}-late`, `${parent}-early`];
  for (const slug of [late, early]) await addCategory(sql, { parent, slug });
  await addCategory(sql, { parent, is_active: false });
  await sql`update public.categories set sort_order = -1, description = 'First' where slug = ${early}`;
  const { body } = await api.get('/categories').expect(200);
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const category = (slug: string) => ({
    id,
    name: `Category ${slug}`,
    slug,
    description: null,
    sort_order: 0,
  });
  expect(body.data.find(({ slug }: { slug: string }) => slug === parent)).toEqual({
    ...category(parent),
    children: [{ ...category(early), description: 'First', sort_order: -1 }, category(late)],
  });
});
