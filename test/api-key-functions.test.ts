import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { addSound } from './support/catalogue.ts';
import { asApiKey, rest } from './support/rest.ts';
import { signUp, test } from './support/test.ts';

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

  test('is refused once revoked or expired or when its owner is deactivated; revoking cannot be undone', async ({
    api,
    sql,
  }) => {
    const { user } = await signUp(api);
    const issue = async (expires: string | null = null): Promise<string> => {
      const [row] =
        await sql`select api_key from admin.create_api_key('Partner', ${user.email}, ${expires}::timestamptz)`;
      return row?.['api_key'];
    };
    const statusOf = async (key: string) => (await asApiKey(key, 'get_customer')).status;
    const [revoked, expired, live] = [await issue(), await issue('2999-01-01'), await issue()];
    await sql`update private.api_keys set expires_at = now() where key_prefix = ${expired.slice(0, 16)}`;
    expect([await statusOf(revoked), await statusOf(expired), await statusOf(live)]).toEqual([200, 401, 200]);
    await sql`select * from admin.revoke_api_key(${revoked.slice(0, 16)})`;
    expect(await statusOf(revoked)).toBe(401);
    const undo = sql`update private.api_keys set revoked_at = null where key_prefix = ${revoked.slice(0, 16)}`;
    await expect(undo).rejects.toThrow('A revoked key stays revoked');
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    expect(await statusOf(live)).toBe(401);
    expect(await statusOf(`sk_live_${'0'.repeat(49)}`)).toBe(401);
  });

  test('runs only the operations that are allowed', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const [row] = await sql`select api_key from admin.create_api_key('Partner', ${user.email})`;
    expect((await asApiKey(row?.['api_key'], 'drop_everything')).status).toBe(400);
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
