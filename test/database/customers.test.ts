import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { rest } from '../support/rest.ts';
import { newEmail, type Sql, signUp, test } from '../support/test.ts';

/** Adds an account as Auth would. */
async function addAccount(
  sql: Sql,
  userMetadata: unknown,
  appMetadata: unknown = {},
  email: string | null = newEmail(),
) {
  const id = randomUUID();
  await sql`
    insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data)
    values (${id}, ${email}, ${JSON.stringify(userMetadata)}::text::jsonb, ${JSON.stringify(appMetadata)}::text::jsonb)`;
  return id;
}

async function customerOf(sql: Sql, id: string) {
  const [row] = await sql`select * from public.customers where id = ${id}`;
  return row;
}

describe('the customer of a new account', () => {
  test('an account without an e-mail address gets a customer', async ({ sql }) => {
    expect(await customerOf(sql, await addAccount(sql, {}, {}, null))).toMatchObject({
      email: null,
      is_active: true,
    });
  });

  test('never has an updated_at before its created_at', async ({ sql }) => {
    // Auth sends the time by its own clock, which may be ahead of the database's.
    const id = await addAccount(sql, {});
    const [ahead] = await sql`
      insert into auth.users (id, email, created_at) values (${randomUUID()}, ${newEmail()}, now() + interval '1 minute')
      returning id`;
    await sql`update public.customers set country = 'DE' where id = ${ahead?.['id']}`;
    for (const customer of [await customerOf(sql, id), await customerOf(sql, ahead?.['id'])]) {
      expect(customer?.['updated_at']).toEqual(customer?.['created_at']);
    }
  });

  test('follows the e-mail address and provider of the account, not its name', async ({ sql }) => {
    const id = await addAccount(sql, { full_name: 'First' });
    await sql`update public.customers set full_name = 'Chosen' where id = ${id}`;
    const email = newEmail();
    await sql`
      update auth.users set email = ${email}, raw_user_meta_data = '{"full_name":"Later"}',
        raw_app_meta_data = '{"provider":"google"}' where id = ${id}`;
    expect(await customerOf(sql, id)).toMatchObject({
      email,
      full_name: 'Chosen',
      provider: 'google',
      source: 'google',
    });
  });
});

describe('a user who bypasses the gateway', () => {
  test('can read and edit their own record, by the same rules as in the gateway', async ({ api }) => {
    const { user, access_token } = await signUp(api);
    const update = (changes: object) => rest(access_token, 'POST', 'rpc/update_customer', { changes });
    expect(
      await update({ full_name: 'Ada', country: 'GB', locale: 'en-GB', phone: '+441234567890' }),
    ).toMatchObject({
      status: 200,
      body: { id: user.id, full_name: 'Ada', country: 'GB', marketing_opt_in: false },
    });
    expect(await update({ full_name: null, marketing_opt_in: true })).toMatchObject({
      body: { full_name: null, country: 'GB', marketing_opt_in: true },
    });
    for (const rejected of [
      { full_name: 'x'.repeat(201) },
      { country: 'XX' },
      { country: 'gb' },
      { phone: '0123 456' },
      { locale: 'not a locale' },
      { avatar_url: 'http://a.example' },
      { full_name: '\u200b' },
      { full_name: '\ufeff\u2060 \u200d' },
      { phone: '+0000000' },
      { locale: 'en-u' },
      { locale: 'x' },
      { locale: 'zh-yue' },
    ]) {
      expect((await update(rejected)).status, JSON.stringify(rejected)).toBe(400);
    }
    for (const accepted of [
      { full_name: '‎نور‎' },
      { full_name: '👩‍🚀' },
      { phone: '+1234567' },
      { locale: 'zh-Hant-TW' },
      { locale: 'es-419' },
      { locale: 'de-CH-1901' },
      { locale: 'ar-u-nu-latn' },
      { locale: 'en-x-pirate' },
      { avatar_url: 'https://a.example' },
    ]) {
      expect(await update(accepted), JSON.stringify(accepted)).toMatchObject({ status: 200, body: accepted });
    }
  });

  test('a user who bypasses the gateway sets last_seen_at alone', async ({ api, sql }) => {
    const { user, access_token } = await signUp(api);
    const before = await customerOf(sql, user.id);
    await rest(access_token, 'POST', 'rpc/touch_last_seen', {});
    const after = await customerOf(sql, user.id);
    expect(before).toMatchObject({ last_seen_at: null });
    expect(after).toMatchObject({ last_seen_at: expect.any(Date), updated_at: before?.['updated_at'] });
    await rest(access_token, 'POST', 'rpc/touch_last_seen', {});
    expect(await customerOf(sql, user.id)).toEqual(after);
  });

  test('a user who bypasses the gateway sets last_seen_at every 15 minutes', async ({ api, sql }) => {
    const { user, access_token } = await signUp(api);
    for (const [ago, isNoted] of [
      ['14 minutes', false],
      ['16 minutes', true],
    ] as const) {
      await sql`update public.customers set last_seen_at = now() - ${ago}::interval where id = ${user.id}`;
      await rest(access_token, 'POST', 'rpc/touch_last_seen', {});
      expect(
        await sql`select from public.customers where id = ${user.id} and last_seen_at > now() - interval '1 minute'`,
      ).toHaveLength(isNoted ? 1 : 0);
    }
  });
});
