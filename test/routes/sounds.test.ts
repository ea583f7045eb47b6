import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { test } from '../support/test.ts';
import { idsOf, readPage } from './pages.ts';

describe('GET /sounds', () => {
  test('lists exactly the fields of a Sound, and changes its ETag with them', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const created_at = newMoment().toISOString();
    const given = { category, title: 'Rain on leaves', description: 'Soft rain', duration_sec: 12.5, created_at };
    const paths = { cover_image_path: 'rain/leaves.jpg', audio_path: 'rain/leaves.wav' };
    const cover_placeholder = 'k7kMBYA3eYiAd4iAiA==';
    const id = await addSound(sql, { ...given, ...paths, cover_placeholder });
    const first = await app.get('/sounds').query({ category }).expect(200);
    const byDefault = {
      bowl_note: null,
      frequency_hz: null,
      tags: null,
      is_featured: false,
      is_premium: false,
      play_count: 0,
    };
    const sound = { id, ...given, ...byDefault, cover_image_url: 'covers/rain/leaves.jpg', cover_placeholder };
    expect(first.body).toEqual({ data: [sound], next_cursor: null });

    const head = await app.head('/sounds').query({ category }).expect(200);
    expect([head.text, head.get('ETag')]).toEqual([undefined, first.get('ETag')]);

    // Revalidate with no-cache, because many HTTP clients add it.
    const headers = { 'If-None-Match': first.get('ETag') ?? '', 'Cache-Control': 'no-cache' };
    const again = () => app.get('/sounds').query({ category }).set(headers);
    await again().expect(304);
    await addSound(sql, { category });
    expect((await again().expect(200)).body.data).toHaveLength(2);
  });

  test('filters by category, sub-intentions, featured, tags and duration', async ({ app, sql }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent, is_active: false }); // does not hide its sounds
    const [a, b, c] = await addSounds(sql, [
      { category: parent, created_at: '2024-01-03T00:00:00Z', is_featured: true, duration_sec: 5 },
      { category: parent, created_at: '2024-01-02T00:00:00Z', duration_sec: 9.5 },
      { category: child, created_at: '2024-01-02T12:00:00Z' }, // between the sounds of the parent
    ]);
    await sql`update public.sounds set tags = '{deep,slow}' where id = ${a ?? null}`;
    const family = { category: parent, include_children: true };
    for (const [query, ...expected] of [
      [{ category: parent }, a, b],
      [{ category: parent, include_children: false }, a, b],
      [family, a, c, b],
      [{ category: child, include_children: true }, c],
      [{ ...family, featured: true }, a],
      [{ ...family, featured: false }, c, b],
      [{ ...family, tag: ['slow', 'deep'] }, a],
      [{ ...family, tag: ['slow', 'calm'] }],
      [{ ...family, min_duration: 5, max_duration: 9.4 }, a],
      [{ ...family, min_duration: 5.1 }, b],
      [{ category: `no-${randomUUID()}` }],
    ] as const)
      expect([query, ...idsOf(await readPage(app, query))]).toEqual([query, ...expected]);
  });

  test('limit is 50 by default, and the cursor returns the other sounds', async ({ app, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(51).fill({ category }));
    const first = await readPage(app, { category });
    expect(first.data).toHaveLength(50);
    expect(first.next_cursor).toBe(first.data.at(-1)?.created_at);
    const rest = await readPage(app, { category, cursor: first.next_cursor });
    expect(rest.next_cursor).toBeNull();
    expect([...idsOf(first), ...idsOf(rest)].toSorted()).toEqual(ids.toSorted());
  });

  test('?ids= returns each active sound once, in the requested order, up to 100', async ({ app, sql }) => {
    const hidden = await addSound(sql, { is_active: false });
    const ids = (await addSounds(sql, Array(97).fill({}))).toReversed();
    const asked = [...ids, hidden, randomUUID()].map((id) => id.toUpperCase());
    const page = await readPage(app, { ids: [...asked, ids[0]].join() });
    expect(idsOf(page)).toEqual(ids);
    expect(page.next_cursor).toBeNull();
    expect(await readPage(app, { ids: ids.slice(0, 2) })).toEqual({ ...page, data: page.data.slice(0, 2) });
  });
});
