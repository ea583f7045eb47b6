import { expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { addCategory } from '../support/catalogue.ts';
import { test } from '../support/test.ts';

test('a value at the limits of its field is returned as it was entered', async ({ api, sql, user }) => {
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
      // An earlier run may have used the first millisecond.
      ...(created_at && { created_at: expect.stringMatching(/^1970-01-01T00:00:00\.\d{3}Z$/) }),
    });
  }
});
