import { describe } from 'vitest';
import { bearer } from '../support/api.ts';
import { password, signUp, test } from '../support/test.ts';

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
