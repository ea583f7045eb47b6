import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, addSounds, newSlug } from './support/catalogue.ts';
import { test } from './support/test.ts';

type Item = { id: string; title: string; [field: string]: unknown };
type Page = { data: Item[]; next_cursor: string | null };

describe('GET /sounds', () => {
  test('a list item has exactly the fields of a Sound, covers as a storage-relative path', async ({
    api,
    sql,
    user,
  }) => {
    const category = await addCategory(sql);
    const id = await addSound(sql, {
      title: 'Rain on leaves',
      description: 'Soft rain',
      category,
      cover_image_path: 'rain/leaves.jpg',
      audio_path: 'rain/leaves.wav',
      duration_sec: 12.5,
      created_at: '2024-05-01T10:00:00Z',
    });
    const { status, body } = await api.get<Page>(`/sounds?category=${category}`, {
      token: user.access_token,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id,
          title: 'Rain on leaves',
          description: 'Soft rain',
          bowl_note: null,
          frequency_hz: null,
          duration_sec: 12.5,
          category,
          tags: null,
          cover_image_url: 'covers/rain/leaves.jpg',
          is_featured: false,
          play_count: 0,
          created_at: '2024-05-01T10:00:00.000Z',
        },
      ],
      next_cursor: null,
    });
  });

  test('a sound needs only a title, and is then listed', async ({ api, sql, user }) => {
    const title = `Only a title ${randomUUID()}`;
    await sql`insert into public.sounds (title) values (${title})`;
    const { body } = await api.get<Page>(`/sounds?search=${encodeURIComponent(title)}`, {
      token: user.access_token,
    });
    expect(body.data).toMatchObject([{ title, is_featured: false, cover_image_url: null, category: null }]);
  });

  test('the order is sort_order, then newest first', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, sort_order: 2, created_at: '2024-01-04T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-01T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-03T00:00:00Z' },
      { category, sort_order: -5, created_at: '2024-01-02T00:00:00Z' },
    ]);
    const { body } = await api.get<Page>(`/sounds?category=${category}`, { token: user.access_token });
    expect(body.data.map(({ id }) => id)).toEqual([ids[3], ids[2], ids[1], ids[0]]);
  });

  test('inactive sounds are never listed', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(sql, [{ category, is_active: false }]);
    const { body } = await api.get<Page>(`/sounds?category=${category}`, { token: user.access_token });
    expect(body.data).toEqual([]);
    expect(await sql`select from public.sounds where category = ${category}`).toHaveLength(1);
  });

  test('a category filter takes sub-intentions along only when asked to', async ({ api, sql, user }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const [ofParent, ofChild] = await addSounds(sql, [
      { category: parent, created_at: '2024-01-02T00:00:00Z' },
      { category: child, created_at: '2024-01-01T00:00:00Z' },
    ]);
    const idsOf = async (query: string) => {
      const { body } = await api.get<Page>(`/sounds?${query}`, { token: user.access_token });
      return body.data.map(({ id }) => id);
    };
    expect(await idsOf(`category=${parent}`)).toEqual([ofParent]);
    expect(await idsOf(`category=${parent}&include_children=false`)).toEqual([ofParent]);
    expect(await idsOf(`category=${parent}&include_children=true`)).toEqual([ofParent, ofChild]);
    expect(await idsOf(`category=${child}&include_children=true`)).toEqual([ofChild]);
  });

  test('an inactive category hides itself, not its sounds', async ({ api, sql, user }) => {
    const category = await addCategory(sql, { is_active: false });
    const id = await addSound(sql, { category });
    const { body } = await api.get<Page>(`/sounds?category=${category}`, { token: user.access_token });
    expect(body.data.map((sound) => sound.id)).toEqual([id]);
  });

  test('featured=true lists only featured sounds, featured=false only the others', async ({
    api,
    sql,
    user,
  }) => {
    const category = await addCategory(sql);
    const [featured, other] = await addSounds(sql, [
      { category, is_featured: true },
      { category, is_featured: false },
    ]);
    for (const [value, id] of [
      ['true', featured],
      ['false', other],
    ]) {
      const path = `/sounds?category=${category}&featured=${value}`;
      const { body } = await api.get<Page>(path, { token: user.access_token });
      expect(body.data.map((sound) => sound.id)).toEqual([id]);
    }
  });

  test('search is a case-insensitive part of the title, in which % _ and \\ are ordinary', async ({
    api,
    sql,
    user,
  }) => {
    const category = await addCategory(sql);
    await addSounds(sql, [
      { category, title: 'ÄOLIAN Harp 100% pure_tone' },
      { category, title: 'Back\\slash' },
      { category, title: 'Other' },
    ]);
    const titlesOf = async (search: string) => {
      const path = `/sounds?category=${category}&search=${encodeURIComponent(search)}`;
      const { body } = await api.get<Page>(path, { token: user.access_token });
      return body.data.map(({ title }) => title);
    };
    expect(await titlesOf('äolian HARP')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('100% pure_')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('A\u0308olian')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('k\\s')).toEqual(['Back\\slash']);
    expect(await titlesOf('%')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('nothing like it')).toEqual([]);
    expect(await titlesOf('   ')).toHaveLength(3);
  });

  test('limit is 50 unless given, and the cursor leads to the rest', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(51).fill({ category }));
    const first = await api.get<Page>(`/sounds?category=${category}`, { token: user.access_token });
    expect(first.body.data).toHaveLength(50);
    const cursor = encodeURIComponent(first.body.next_cursor ?? '');
    const rest = await api.get<Page>(`/sounds?category=${category}&cursor=${cursor}`, {
      token: user.access_token,
    });
    expect(rest.body.next_cursor).toBeNull();
    const seen = [...first.body.data, ...rest.body.data].map(({ id }) => id);
    expect(seen.sort()).toEqual(ids.sort());
  });

  test('the last page has no cursor, also when it is full', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(sql, Array(3).fill({ category }));
    const { body } = await api.get<Page>(`/sounds?category=${category}&limit=3`, {
      token: user.access_token,
    });
    expect(body.data).toHaveLength(3);
    expect(body.next_cursor).toBeNull();
  });

  test('search finds a title whichever way the accents of either were typed', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const id = await addSound(sql, { title: 'Cafe\u0301 at dawn', category });
    const renamed = await addSound(sql, { title: 'Something else', category });
    await sql`update public.sounds set title = ${'Cafe\u0301 at night'} where id = ${renamed}`;
    for (const search of ['caf\u00e9', 'cafe\u0301']) {
      const path = `/sounds?category=${category}&search=${encodeURIComponent(search)}`;
      const { body } = await api.get<Page>(path, { token: user.access_token });
      expect(body.data.map((sound) => sound.id).toSorted()).toEqual([id, renamed].toSorted());
    }
  });

  test('an unknown category, a blank search and unknown parameters are no errors', async ({ api, user }) => {
    const path = `/sounds?category=${newSlug()}&search=%20&include_children=true&nonsense=1&nonsense=2`;
    const { status, body } = await api.get<Page>(path, { token: user.access_token });
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], next_cursor: null });
  });

  for (const query of [
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1.5',
    'limit=abc',
    'limit=',
    'limit=1&limit=2',
    'featured=yes',
    'featured=',
    'include_children=1',
    'category=a&category=b',
    `search=${'x'.repeat(101)}`,
    'search=%00',
    'cursor=',
    'cursor=yesterday',
    'cursor=2024-13-01T00:00:00Z',
    'cursor=2023-02-29T00:00:00Z',
    'cursor=2024-01-01',
    'cursor=1969-12-31T23:59:59Z',
    'cursor=9999-12-31T23:59:59-01:00',
    'cursor=2024-01-01T00:00:00Z&cursor=2024-01-01T00:00:00Z',
    'cursor=infinity',
    `${'a&'.repeat(1000)}limit=0`,
  ]) {
    test(`?${query.slice(-60)} is refused, naming the parameter`, async ({ api, user }) => {
      const { status, body } = await api.get<{ error: { message: string } }>(`/sounds?${query}`, {
        token: user.access_token,
      });
      expect(status).toBe(400);
      expect(body.error.message).toMatch(new RegExp(`^${/(\w+)=[^=]*$/.exec(query)?.[1]}: `));
    });
  }

  test('a copy can be kept and checked: its ETag gives 304, also with Cache-Control: no-cache', async ({
    api,
    sql,
    user,
  }) => {
    const category = await addCategory(sql);
    const path = `/sounds?category=${category}`;
    const { headers } = await api.get(path, { token: user.access_token });
    expect(headers.get('cache-control')).toBe('private, no-cache');
    const etag = headers.get('etag') ?? '';
    const again = {
      token: user.access_token,
      headers: { 'If-None-Match': etag, 'Cache-Control': 'no-cache' },
    };
    expect((await api.get(path, again)).status).toBe(304);
    await addSound(sql, { category });
    expect((await api.get(path, again)).status).toBe(200);
  });
});
