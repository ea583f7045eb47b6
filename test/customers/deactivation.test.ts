import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { bearer } from '../support/api.ts';
import { newEmail, password, signUp, test } from '../support/test.ts';

describe('deactivating a customer', () => {
  test('blocks sign-in and refresh until the customer is activated again', async ({ api, sql }) => {
    const { user, refresh_token, access_token } = await signUp(api);
    const signIn = () => api.post('/auth/signin').send({ email: user.email, password });
    const setActive = (is_active: boolean) =>
      sql`update public.customers set is_active = ${is_active} where id = ${user.id}`;

    await setActive(false);
    await signIn().expect(401);
    await api.post('/auth/refresh').send({ refresh_token }).expect(401);
    await api.get('/home').auth(access_token, bearer).expect(200); // good until it expires
    await setActive(true);
    await signIn().expect(200);
  });

  for (const [what, before, meanwhile, expected] of [
    ['a ban from before, gives it back', '2999-01-01', undefined, '2999-01-01'],
    ['a ban set meanwhile, leaves it', null, '2999-01-01', '2999-01-01'],
    ['a ban changed meanwhile, leaves the later one', '2998-01-01', '2999-01-01', '2999-01-01'],
    ['a ban lifted meanwhile, leaves it lifted', '2999-01-01', null, null],
  ] as const) {
    test(`activating a customer again, with ${what}`, async ({ sql }) => {
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

  test('keeps them out even when somebody lifts the ban in the dashboard', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const signIn = () => api.post('/auth/signin').send({ email: user.email, password });
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    await sql`update auth.users set banned_until = null where id = ${user.id}`;
    await signIn().expect(401);
    await sql`update public.customers set is_active = true where id = ${user.id}`;
    await signIn().expect(200);
  });
});
