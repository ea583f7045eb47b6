import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addSound, addSounds } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { test as base } from '../support/test.ts';

// Attacks on the data API itself, with what every user of the app has: their own access token and the publishable key.
// The same attacks in SQL are in supabase/tests.

const test = base.extend<{ $file: { callers: (string | null)[] } }>({
  /** A user, and a guest who has the key alone. */
  callers: [async ({ user }, use) => use([user.access_token, null]), { scope: 'file' }],
});

describe('users and guests', () => {
  test('cannot write the catalogue, count plays or use API keys', async ({ sql, callers }) => {
    const id = await addSound(sql, { title: 'Original' });
    await sql`insert into public.play_counts (sound_id, plays) values (${id}, 41)`;
    for (const caller of callers) {
      for (const [method, path, body] of [
        ['POST', 'sounds', { title: 'Mine' }],
        ['PATCH', `sounds?id=eq.${id}`, { title: 'Mine' }],
        ['PATCH', `sounds?id=eq.${id}`, { is_featured: true }],
        ['DELETE', `sounds?id=eq.${id}`, undefined],
        ['POST', 'categories', { slug: 'mine', name: 'Mine' }],
        ['PATCH', 'categories?id=not.is.null', { name: 'Mine' }],
        ['DELETE', 'categories?id=not.is.null', undefined],
        ['POST', 'home_sections', { slug: 'mine', title: 'Mine' }],
        ['PATCH', 'home_sections?id=not.is.null', { title: 'Mine' }],
        ['DELETE', 'home_section_sounds?position=gte.0', undefined],
        ['POST', 'play_counts', { sound_id: id, plays: 1000 }],
        ['PATCH', `play_counts?sound_id=eq.${id}`, { plays: 1000 }],
        ['DELETE', `play_counts?sound_id=eq.${id}`, undefined],
        ['POST', 'rpc/count_play', { played_sound: id }],
        ['POST', 'rpc/count_play', { played_sound: id, player: randomUUID(), idempotency_key: 'x' }],
        ['POST', 'rpc/count_plays', { plays: [], player: randomUUID() }],
        ['POST', 'history', { sound_id: id, plays: 1, last_played_at: '2026-01-01' }],
        ['PATCH', 'history?plays=gt.0', { plays: 1000 }],
        ['POST', 'rpc/as_api_key', { key_hash: 'x', operation: 'get_customer' }],
        ['POST', 'customers', { id: randomUUID() }],
        ['DELETE', 'customers?id=not.is.null', undefined],
        ['PATCH', `favorites?sound_id=eq.${id}`, { created_at: '2000-01-01' }],
      ] as const) {
        const { status } = await rest(caller, method, path, body);
        expect(status, `${method} ${path}`).toBe(caller === null ? 401 : 403);
      }
    }
    expect(
      await sql`
        select title, is_featured, plays from public.sounds join public.play_counts on sound_id = id where id = ${id}`,
    ).toEqual([{ title: 'Original', is_featured: false, plays: '41' }]);
  });

  test('cannot reach any schema but the exposed one', async ({ sql, user, callers }) => {
    await sql`select admin.create_api_key('Attacked', ${user.user.email})`;
    for (const caller of [...callers, 'service']) {
      for (const path of [
        'api_keys',
        'former_positions',
        'suspended_bans',
        'catalogue_problems',
        'sound',
        'customer',
      ]) {
        for (const schema of ['private', 'admin', 'auth', 'storage']) {
          const { status } = await rest(caller, 'GET', path, undefined, { 'Accept-Profile': schema });
          expect(status, `${schema}.${path}`).toBe(406);
        }
      }
      for (const name of ['create_api_key', 'revoke_api_key', 'owner_of_live_key', 'sounds_in_list_order']) {
        const { status } = await rest(caller, 'POST', `rpc/${name}`, {}, { 'Content-Profile': 'private' });
        expect(status, `private.${name}`).toBe(406);
      }
    }
  });

  test('cannot keep the database busy with a search, a category or a value of megabytes', async ({
    sql,
    user: { access_token: token },
  }) => {
    const megabytes = '%'.repeat(5_000_000);
    await addSounds(
      sql,
      Array.from({ length: 500 }, () => ({ title: `${'%'.repeat(99)} ${randomUUID()}` })),
    );
    const timed = async (name: string, args: object) => {
      const started = performance.now();
      const { status } = await rest(token, 'POST', `rpc/${name}`, args);
      return { status, ms: performance.now() - started };
    };
    // The same bytes, to a function that does not exist.
    const yardstick = await timed('list_sounds', { no_such_argument: megabytes });
    expect(yardstick.status).toBe(404);
    for (const [name, args, expected] of [
      ['list_sounds', { filters: JSON.stringify({ search: megabytes }) }, 200],
      ['list_sounds', { filters: JSON.stringify({ category: megabytes, include_children: true }) }, 200],
      ['list_sounds', { filters: megabytes }, 400],
      ['update_customer', { changes: { full_name: megabytes } }, 400],
      ['update_customer', { changes: { avatar_url: `https://${megabytes}` } }, 400],
      ['update_customer', { changes: { phone: `+${'1'.repeat(5_000_000)}` } }, 400],
      ['update_customer', { changes: { locale: megabytes } }, 400],
      ['update_customer', { changes: { country: megabytes } }, 400],
    ] as const) {
      const { status, ms } = await timed(name, args);
      expect(status, name).toBe(expected);
      expect(ms, `${name} ${Object.keys(args)}`).toBeLessThan(1_000 + 3 * yardstick.ms);
    }
  });

  test('who are guests can read the category tree and nothing else', async () => {
    expect((await rest(null, 'POST', 'rpc/list_categories', {})).status).toBe(200);
    for (const table of [
      'categories',
      'sounds',
      'play_counts',
      'favorites',
      'customers',
      'home_sections',
      'home_section_sounds',
    ]) {
      expect((await rest(null, 'GET', table)).status, table).toBe(401);
    }
    for (const [name, args] of [
      ['list_sounds', {}],
      ['get_sound', { wanted_sound: randomUUID() }],
      ['list_home_sections', {}],
      ['list_favorites', {}],
      ['add_favorite', { liked_sound: randomUUID() }],
      ['remove_favorite', { disliked_sound: randomUUID() }],
      ['get_customer', {}],
      ['update_customer', { changes: {} }],
      ['touch_last_seen', {}],
    ] as const) {
      expect((await rest(null, 'POST', `rpc/${name}`, args)).status, name).toBe(401);
    }
  });
});
