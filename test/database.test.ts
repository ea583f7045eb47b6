import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addCategory, addSound, newSlug } from './support/catalogue.ts';
import { asApiKey, rest } from './support/rest.ts';
import { test } from './support/test.ts';

describe('a user who leaves the gateway out', () => {
  test('finds only what is active', async ({ sql, user }) => {
    const parent = await addCategory(sql, { is_active: false });
    const child = await addCategory(sql, { parent });
    const sound = await addSound(sql, { is_active: false });
    const section = newSlug();
    await sql`insert into public.home_sections (slug, title, is_active) values (${section}, 'Hidden', false)`;
    for (const path of [
      `categories?slug=in.(${parent},${child})`,
      `sounds?id=eq.${sound}`,
      `home_sections?slug=eq.${section}`,
    ]) {
      expect(await rest(user.access_token, 'GET', path)).toEqual({ status: 200, body: [] });
      expect((await rest<unknown[]>('service', 'GET', path)).body, `${path} exists`).not.toEqual([]);
    }
  });

  test('can write nothing of the catalogue, nor count plays', async ({ sql, user }) => {
    const id = await addSound(sql);
    const { access_token } = user;
    for (const [method, path, body] of [
      ['POST', 'sounds', { title: 'Mine' }],
      ['PATCH', `sounds?id=eq.${id}`, { title: 'Mine' }],
      ['DELETE', `sounds?id=eq.${id}`, undefined],
      ['POST', 'categories', { slug: 'mine', name: 'Mine' }],
      ['POST', 'home_sections', { slug: 'mine', title: 'Mine' }],
      ['POST', 'play_counts', { sound_id: id, plays: 1000 }],
      ['POST', 'rpc/count_play', { played_sound: id }],
      ['POST', 'rpc/as_api_key', { key_hash: 'x', operation: 'get_customer' }],
    ] as const) {
      expect((await rest(access_token, method, path, body)).status, path).toBe(403);
    }
  });

  test('keeps their own favorites and nobody else sees or changes them', async ({ api, sql, user }) => {
    const id = await addSound(sql, { title: 'Liked', duration_sec: 3 });
    const hidden = await addSound(sql, { is_active: false });
    const call = (name: string, args = {}) => rest(user.access_token, 'POST', `rpc/${name}`, args);
    expect((await call('add_favorite', { liked_sound: id })).body).toBe(true);
    expect((await call('add_favorite', { liked_sound: id })).body).toBe(true);
    expect((await call('add_favorite', { liked_sound: hidden })).body).toBe(false);
    expect((await rest(user.access_token, 'POST', 'favorites', { sound_id: hidden })).status).toBe(403);
    const mine = await call('list_favorites');
    expect(mine.body).toEqual([
      {
        sound_id: id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        sounds: { id, title: 'Liked', category: null, cover_image_url: null, duration_sec: 3 },
      },
    ]);
    const other = await api.signUp();
    expect((await rest(other.access_token, 'GET', 'favorites')).body).toEqual([]);
    expect((await rest(other.access_token, 'DELETE', `favorites?sound_id=eq.${id}`)).body).toEqual([]);
    const forged = await rest(other.access_token, 'POST', 'favorites', {
      sound_id: id,
      user_id: user.user.id,
    });
    expect(forged.status).toBe(403);
    await sql`update public.sounds set is_active = false where id = ${id}`;
    expect((await call('list_favorites')).body).toMatchObject([{ sound_id: id, sounds: null }]);
    await call('remove_favorite', { disliked_sound: id });
    expect((await call('list_favorites')).body).toEqual([]);
  });

  test('gets no address out of Storage', async ({ user }) => {
    const listing = await rest(user.access_token, 'POST', '../../storage/v1/object/list/audio', {
      prefix: '',
    });
    expect(listing).toEqual({ status: 200, body: [] });
  });
});

describe('a guest with the publishable key', () => {
  test('reads the category tree and nothing else', async () => {
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
    for (const name of [
      'list_sounds',
      'list_home_sections',
      'list_favorites',
      'get_customer',
      'touch_last_seen',
    ]) {
      expect((await rest(null, 'POST', `rpc/${name}`, {})).status, name).toBe(401);
    }
  });
});

describe('an API key', () => {
  test('has the documented form, is stored as a hash, and acts as its owner under row-level security', async ({
    api,
    sql,
  }) => {
    const { user } = await api.signUp();
    const other = await api.signUp();
    const id = await addSound(sql);
    const [issued] = await sql`select * from admin.create_api_key('Partner', ${user.email.toUpperCase()})`;
    const key: string = issued?.['api_key'];
    expect(key).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);

    expect((await asApiKey(key, 'get_customer')).body).toMatchObject({ id: user.id, email: user.email });
    expect((await asApiKey(key, 'add_favorite', { liked_sound: id })).body).toBe(true);
    expect((await asApiKey(key, 'list_favorites')).body).toMatchObject([{ sound_id: id }]);
    expect((await asApiKey(key, 'count_play', { played_sound: id })).body).toEqual({ id, play_count: 1 });
    expect((await asApiKey(key, 'list_sounds', { page_size: 1 })).body).toMatchObject({ data: [{}] });
    expect((await rest(other.access_token, 'GET', 'favorites')).body).toEqual([]);

    const hash = createHash('sha256').update(key).digest('hex');
    const [stored] = await sql`select * from private.api_keys where key_hash = ${hash}`;
    expect(JSON.stringify(stored)).not.toContain(key);
    expect(stored).toMatchObject({
      owner_id: user.id,
      key_prefix: key.slice(0, 16),
      last_used_at: expect.any(Date),
    });
  });

  test('is refused once revoked, expired, or when its owner is locked out; revoking cannot be undone', async ({
    api,
    sql,
  }) => {
    const { user } = await api.signUp();
    const issue = async (expires: string | null = null): Promise<string> => {
      const [row] =
        await sql`select api_key from admin.create_api_key('Partner', ${user.email}, ${expires}::timestamptz)`;
      return row?.['api_key'];
    };
    const statusOf = async (key: string) => (await asApiKey(key, 'get_customer')).status;
    const [revoked, expired, live] = [await issue(), await issue('2020-01-01'), await issue()];
    expect([await statusOf(revoked), await statusOf(expired), await statusOf(live)]).toEqual([200, 401, 200]);
    await sql`select * from admin.revoke_api_key(${revoked.slice(0, 16)})`;
    expect(await statusOf(revoked)).toBe(401);
    const undo = sql`update private.api_keys set revoked_at = null where key_prefix = ${revoked.slice(0, 16)}`;
    await expect(undo).rejects.toThrow('A revoked key stays revoked');
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    expect(await statusOf(live)).toBe(401);
    expect(await statusOf(`sk_live_${'0'.repeat(49)}`)).toBe(401);
  });

  test('runs only the operations on the list', async ({ api, sql }) => {
    const { user } = await api.signUp();
    const [row] = await sql`select api_key from admin.create_api_key('Partner', ${user.email})`;
    expect((await asApiKey(row?.['api_key'], 'drop_everything')).status).toBe(400);
  });

  test('needs an owner that exists, and revoking needs a key that exists', async ({ sql }) => {
    await expect(sql`select admin.create_api_key('x', 'nobody@example.com')`).rejects.toThrow(
      'must have an account first',
    );
    await expect(sql`select admin.revoke_api_key('sk_live_')`).rejects.toThrow('No key begins with');
  });
});
