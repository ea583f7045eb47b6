import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound, addSounds, newMoment } from '../support/catalogue.ts';
import { type Session, test } from '../support/test.ts';

type Item = { id: string; title: string; [field: string]: unknown };
type Page = { data: Item[]; next_cursor: string | null };

async function list(api: Api, user: Session, query: object): Promise<Page> {
  const { body } = await api.get('/sounds').query(query).auth(user.access_token, bearer).expect(200);
  return body;
}

const idsOf = ({ data }: Page) => data.map(({ id }) => id);

describe('GET /sounds', () => {
  test('a list item has exactly the fields of a Sound', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const created_at = newMoment().toISOString();
    const id = await addSound(sql, {
      title: 'Rain on leaves',
      description: 'Soft rain',
      category,
      cover_image_path: 'rain/leaves.jpg',
      audio_path: 'rain/leaves.wav',
      duration_sec: 12.5,
      created_at,
    });
    expect(await list(api, user, { category })).toEqual({
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
          created_at,
        },
      ],
      next_cursor: null,
    });
  });

  test('a sound needs only a title, and is then listed', async ({ api, sql, user }) => {
    const title = `Only a title ${randomUUID()}`;
    await sql`insert into public.sounds (title) values (${title})`;
    const { data } = await list(api, user, { search: title });
    expect(data).toMatchObject([{ title, is_featured: false, cover_image_url: null, category: null }]);
  });

  test('the order is sort_order, then newest first', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [
      { category, sort_order: 2, created_at: '2024-01-04T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-01T00:00:00Z' },
      { category, sort_order: 1, created_at: '2024-01-03T00:00:00Z' },
      { category, sort_order: -5, created_at: '2024-01-02T00:00:00Z' },
    ]);
    const page = await list(api, user, { category });
    expect(idsOf(page)).toEqual([ids[3], ids[2], ids[1], ids[0]]);
  });

  test('a category filter takes sub-intentions along only when asked to', async ({ api, sql, user }) => {
    const parent = await addCategory(sql);
    const child = await addCategory(sql, { parent });
    const [ofParent, ofChild] = await addSounds(sql, [
      { category: parent, created_at: '2024-01-02T00:00:00Z' },
      { category: child, created_at: '2024-01-01T00:00:00Z' },
    ]);
    const found = async (query: object) => idsOf(await list(api, user, query));
    expect(await found({ category: parent })).toEqual([ofParent]);
    expect(await found({ category: parent, include_children: false })).toEqual([ofParent]);
    expect(await found({ category: parent, include_children: true })).toEqual([ofParent, ofChild]);
    expect(await found({ category: child, include_children: true })).toEqual([ofChild]);
  });

  test('an inactive category hides itself, not its sounds', async ({ api, sql, user }) => {
    const category = await addCategory(sql, { is_active: false });
    const id = await addSound(sql, { category });
    const page = await list(api, user, { category });
    expect(idsOf(page)).toEqual([id]);
  });

  test('search finds a part of the title, and takes % _ and \\ literally', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    await addSounds(sql, [
      { category, title: 'ÄOLIAN Harp 100% pure_tone' },
      { category, title: 'Back\\slash' },
      { category, title: 'Other' },
    ]);
    const titlesOf = async (search: string) => {
      const { data } = await list(api, user, { category, search });
      return data.map(({ title }) => title);
    };
    expect(await titlesOf('äolian HARP')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('100% pure_')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('A\u0308olian')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('k\\s')).toEqual(['Back\\slash']);
    expect(await titlesOf('%')).toEqual(['ÄOLIAN Harp 100% pure_tone']);
    expect(await titlesOf('nothing like it')).toEqual([]);
    expect(await titlesOf('   ')).toHaveLength(3);
  });

  test('search ignores accents on either side; titles keep theirs', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const titles = [
      'Schöne Straße',
      'Café at dawn',
      'Kyōto',
      'Łódź',
      'Θάλασσα',
      'が',
      '50％ calm',
      'Plain cafe',
    ];
    await addSounds(
      sql,
      titles.map((title) => ({ category, title })),
    );
    const titlesOf = async (search: string) => {
      const { data } = await list(api, user, { category, search });
      return data.map(({ title }) => title).toSorted();
    };
    expect(await titlesOf('schone')).toEqual(['Schöne Straße']);
    expect(await titlesOf('SCHÖNE STRASSE')).toEqual(['Schöne Straße']);
    expect(await titlesOf('cafe')).toEqual(['Café at dawn', 'Plain cafe']);
    expect(await titlesOf('CAFÉ')).toEqual(['Café at dawn', 'Plain cafe']);
    expect(await titlesOf('lodz')).toEqual(['Łódź']);
    expect(await titlesOf('kÿotò')).toEqual(['Kyōto']);
    expect(await titlesOf('θαλασσα')).toEqual(['Θάλασσα']);
    expect(await titlesOf('か')).toEqual([]); // another letter, not an accent
    expect(await titlesOf('50%')).toEqual(['50％ calm']);
    expect(await titlesOf('％')).toEqual(['50％ calm']); // the sign, not "anything"
  });

  test('limit is 50 by default, and the cursor leads to the rest', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, Array(51).fill({ category }));
    const first = await list(api, user, { category });
    expect(first.data).toHaveLength(50);
    const rest = await list(api, user, { category, cursor: first.next_cursor });
    expect(rest.next_cursor).toBeNull();
    expect([...idsOf(first), ...idsOf(rest)].toSorted()).toEqual(ids.toSorted());
  });

  test('a page is revalidated by its ETag, also with no-cache', async ({ api, sql, user }) => {
    const category = await addCategory(sql);
    const request = () => api.get('/sounds').query({ category }).auth(user.access_token, bearer);
    const first = await request().expect(200).expect('Cache-Control', 'private, no-cache');
    const again = () =>
      request().set({ 'If-None-Match': first.get('ETag') ?? '', 'Cache-Control': 'no-cache' });
    await again().expect(304);
    await addSound(sql, { category });
    await again().expect(200);
  });
});
