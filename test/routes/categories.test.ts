import { describe, expect } from 'vitest';
import { addCategory } from '../support/catalogue.ts';
import { test } from '../support/test.ts';

type Tree = { data: { slug: string; children: { slug: string }[] }[] };

describe('GET /categories', () => {
  test('returns active intentions in display order with sub-intentions', async ({ api, sql }) => {
    const parent = await addCategory(sql);
    const [late, early, hidden] = [`${parent}-late`, `${parent}-early`, `${parent}-hidden`];
    await addCategory(sql, { parent, slug: late });
    await addCategory(sql, { parent, slug: early });
    await addCategory(sql, { parent, slug: hidden, is_active: false });
    await sql`update public.categories set sort_order = -1, description = 'First' where slug = ${early}`;

    const { body }: { body: Tree } = await api.get('/categories').expect(200);
    const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(body.data.find(({ slug }) => slug === parent)).toEqual({
      id: uuid,
      name: `Category ${parent}`,
      slug: parent,
      description: null,
      sort_order: 0,
      children: [
        { id: uuid, name: `Category ${early}`, slug: early, description: 'First', sort_order: -1 },
        { id: uuid, name: `Category ${late}`, slug: late, description: null, sort_order: 0 },
      ],
    });
  });
});
