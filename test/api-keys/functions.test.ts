import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addSound } from '../support/catalogue.ts';
import { asApiKey, rest } from '../support/rest.ts';
import { signUp, test } from '../support/test.ts';

describe('an API key', () => {
  test('has the documented form, is stored as a hash, and acts as its owner under row-level security', async ({
    api,
    sql,
  }) => {
    const { user } = await signUp(api);
    const other = await signUp(api);
    const id = await addSound(sql);
    const [issued] = await sql`select * from admin.create_api_key('Partner', ${user.email.toUpperCase()})`;
    const key: string = issued?.['api_key'];
    expect(key).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);

    expect((await asApiKey(key, 'get_customer')).body).toMatchObject({ id: user.id, email: user.email });
    expect((await asApiKey(key, 'add_favorite', { liked_sound: id })).body).toBe(true);
    expect((await asApiKey(key, 'list_favorites')).body).toMatchObject([{ sound_id: id }]);
    expect((await asApiKey(key, 'count_play', { played_sound: id })).body).toEqual({ id, play_count: 1 });
    expect((await asApiKey(key, 'list_sounds', { filters: '{"limit":1}' })).body).toMatchObject({
      data: [{}],
    });
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

  test('is noted as used at most once a minute', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const [issued] = await sql`select * from admin.create_api_key('Partner', ${user.email})`;
    for (const [ago, isNoted] of [
      ['50 seconds', false],
      ['70 seconds', true],
    ] as const) {
      await sql`update private.api_keys set last_used_at = now() - ${ago}::interval where owner_id = ${user.id}`;
      await asApiKey(issued?.['api_key'], 'get_customer');
      expect(
        await sql`select from private.api_keys where owner_id = ${user.id} and last_used_at > now() - interval '30 seconds'`,
      ).toHaveLength(isNoted ? 1 : 0);
    }
  });

  test('can be issued only to an existing account and for the future, and revoked only if it exists', async ({
    api,
    sql,
  }) => {
    const { user } = await signUp(api);
    for (const moment of [new Date('2020-01-01'), new Date()])
      await expect(sql`select admin.create_api_key('x', ${user.email}, ${moment})`).rejects.toThrow(
        'Give a moment in the future, or none.',
      );
    await expect(sql`select admin.create_api_key('x', 'nobody@example.com')`).rejects.toThrow(
      'must have an account first',
    );
    await expect(sql`select admin.revoke_api_key('sk_live_')`).rejects.toThrow('No key begins with');
  });
});
