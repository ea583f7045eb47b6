import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { newEmail, password, test } from './support/test.ts';

describe('an admin who sets is_active to false', () => {
  test('ends the sessions and blocks sign-in and refresh at once; true lets the customer in again', async ({
    api,
    sql,
  }) => {
    const { user, refresh_token, access_token } = await api.signUp();
    const signIn = async () =>
      (await api.post('/auth/signin', { body: { email: user.email, password } })).status;
    const setActive = (is_active: boolean) =>
      sql`update public.customers set is_active = ${is_active} where id = ${user.id}`;

    await setActive(false);
    expect(await signIn()).toBe(401);
    expect((await api.post('/auth/refresh', { body: { refresh_token } })).status).toBe(401);
    expect((await api.get('/home', { token: access_token })).status).toBe(200); // lives out its hour
    await setActive(true);
    expect(await signIn()).toBe(200);
  });

  for (const [what, before, meanwhile, expected] of [
    ['a ban from before, gives it back', '2999-01-01', undefined, '2999-01-01'],
    ['a ban set meanwhile, leaves it', null, '2999-01-01', '2999-01-01'],
    ['a ban changed meanwhile, leaves the later one', '2998-01-01', '2999-01-01', '2999-01-01'],
    ['a ban lifted meanwhile, leaves it lifted', '2999-01-01', null, null],
  ] as const) {
    test(`and back, with ${what}`, async ({ sql }) => {
      const id = randomUUID();
      await sql`insert into auth.users (id, email) values (${id}, ${newEmail()})`;
      const setActive = (is_active: boolean) =>
        sql`update public.customers set is_active = ${is_active} where id = ${id}`;
      const ban = (until: string | null) =>
        sql`update auth.users set banned_until = ${until} where id = ${id}`;
      await ban(before);
      await setActive(false);
      if (meanwhile !== undefined) await ban(meanwhile);
      await setActive(true);
      const [row] = await sql`select banned_until from auth.users where id = ${id}`;
      expect(row?.['banned_until']).toEqual(expected && new Date(expected));
    });
  }

  test('keeps the customer out when somebody lifts the ban in the dashboard', async ({ api, sql }) => {
    const { user } = await api.signUp();
    const signIn = async () =>
      (await api.post('/auth/signin', { body: { email: user.email, password } })).status;
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    await sql`update auth.users set banned_until = null where id = ${user.id}`;
    expect(await signIn()).toBe(401);
    await sql`update public.customers set is_active = true where id = ${user.id}`;
    expect(await signIn()).toBe(200);
  });
});
