import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { test } from '../support/test.ts';
import { idsOf, readPage } from './pages.ts';

describe('GET /sounds', () => {
  test('a list item has exactly the fields of a Sound', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const written = {
      title: 'Rain on leaves',
      description: 'Soft rain',
      category,
      duration_sec: 12.5,
      created_at: newMoment().toISOString(),
    };
    const paths = { cover_image_path: 'rain/leaves.jpg', audio_path: 'rain/leaves.wav' };
    const id = await addSound(sql, { ...written, ...paths });
    expect(await readPage(app, { category })).toEqual({
      data: [
        {
          id,
          ...written,
          bowl_note: null,
          frequency_hz: null,
          tags: null,
          cover_image_url: 'covers/rain/leaves.jpg',
          is_featured: false,
          play_count: 0,
        },
      ],
      next_cursor: null,
    });
  });

  test('a sound needs only a title, and is then listed', async ({ app, sql }) => {
    const title = `Only a title ${randomUUID()}`;
    await sql`insert into public.sounds (title) values (${title})`;
    const { data } = await readPage(app, { search: title });
    expect(data).toMatchObject([{ title, is_featured: false, cover_image_url: null, category: null }]);
  });

  test('the order is sort_order, then newest first', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, sort_order: 2, created_at: '2024-01-04T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-01T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-03T00:00:00Z' },
      { category, sort_order: -5, created_at: '2024-01-02T00:00:00Z' },
    ]);
    expect(idsOf(await readPage(app, { category }))).toEqual([ids[3], ids[2], ids[1], ids[0]]);
  });

  test('a category filter takes sub-intentions along only when asked to', async ({ app, sql }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent, is_active: false }); // hides itself, not its sounds
    const [ofParent, ofChild] = await addSounds(sql, [
      { category: parent, created_at: '2024-01-02T00:00:00Z' },
      { category: child, created_at: '2024-01-01T00:00:00Z' },
    ]);
    const found = async (query: object) => idsOf(await readPage(app, query));
    expect(await found({ category: parent })).toEqual([ofParent]);
    expect(await found({ category: parent, include_children: false })).toEqual([ofParent]);
    expect(await found({ category: parent, include_children: true })).toEqual([ofParent, ofChild]);
    expect(await found({ category: child, include_children: true })).toEqual([ofChild]);
  });

  test('search finds a part of the title, ignores case and accents, and takes signs literally', async ({
    app,
    sql,
  }) => {
    const category = await addCategory(sql);
    const harp = 'ÄOLIAN Harp 100% pure_tone';
    const titles = [harp, 'Back\\slash', 'Schöne Straße', 'Łódź', 'Θάλασσα', 'が', '50％ calm'];
    await addSounds(
      sql,
      [...titles, 'Café at dawn', 'Plain cafe'].map((title) => ({ category, title })),
    );
    for (const [search, ...expected] of [
      ['100% pure_', harp],
      ['A\u0308olian', harp],
      ['k\\s', 'Back\\slash'],
      ['SCHÖNE STRASSE', 'Schöne Straße'],
      ['CAFÉ', 'Café at dawn', 'Plain cafe'],
      ['lodz', 'Łódź'],
      ['θαλασσα', 'Θάλασσα'],
      ['か'], // another letter, not an accent
      ['％', '50％ calm', harp], // the sign, not "anything"
      ['nothing like it'],
    ] as const) {
      const { data } = await readPage(app, { category, search });
      expect([search, ...data.map(({ title }) => title).toSorted()]).toEqual([search, ...expected]);
    }
    expect((await readPage(app, { category, search: '   ' })).data).toHaveLength(9);
  });

  test('limit is 50 by default, and the cursor leads to the rest', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(51).fill({ category }));
    const first = await readPage(app, { category });
    expect(first.data).toHaveLength(50);
    expect(first.next_cursor).toBe(first.data.at(-1)?.created_at);
    const rest = await readPage(app, { category, cursor: first.next_cursor });
    expect(rest.next_cursor).toBeNull();
    expect([...idsOf(first), ...idsOf(rest)].toSorted()).toEqual(ids.toSorted());
  });

  test('a page is revalidated by its ETag, also with no-cache', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const request = () => app.get('/sounds').query({ category });
    const first = await request().expect(200).expect('Cache-Control', 'private, no-cache');
    const again = () =>
      request().set({ 'If-None-Match': first.get('ETag') ?? '', 'Cache-Control': 'no-cache' });
    await again().expect(304);
    await addSound(sql, { category });
    await again().expect(200);
  });
});
