import { expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { password, signUp, test } from '../support/test.ts';

test('deactivating a customer blocks sign-in and refresh until reactivation', async ({ api, sql }) => {
  const { user, refresh_token, access_token } = await signUp(api);
  const signIn = () => api.post('/auth/signin').send({ email: user.email, password });
  await sql`update public.customers set is_active = false where id = ${user.id}`;
  await signIn().expect(401);
  await api.post('/auth/refresh').send({ refresh_token }).expect(401);
  await api.get('/home').auth(access_token, bearer).expect(200); // valid until it expires
  // The dashboard can remove the ban of Auth, but not the deactivation of the customer.
  await sql`update auth.users set banned_until = null where id = ${user.id}`;
  await signIn().expect(401);
  await sql`update public.customers set is_active = true where id = ${user.id}`;
  await signIn().expect(200);
});

test.for([false, true])(
  'an account that was deleted in the dashboard gets 401 (soft deletion: %s)',
  async (should_soft_delete, { api, sql }) => {
    const { user, access_token } = await signUp(api);
    const sound_id = await addSound(sql);
    const { apiUrl, secretKey } = inject('stack');
    const { status } = await fetch(`${apiUrl}/auth/v1/admin/users/${user.id}`, {
      method: 'DELETE',
      headers: { apikey: secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ should_soft_delete }),
    });
    expect(status).toBe(200);
    for (const call of [
      api.get('/me'),
      api.patch('/me/customer').send({ full_name: 'Ghost' }),
      api.post('/favorites').send({ sound_id }),
      api.post(`/sounds/${sound_id}/play`),
      api.get('/me/export'),
    ])
      await call.auth(access_token, bearer).expect(401);
    await api.post('/auth/signout').auth(access_token, bearer).expect(200); // the session has ended
    const emails = await sql`select email from public.customers where id = ${user.id}`;
    expect(emails).toEqual(should_soft_delete ? [{ email: null }] : []);
    expect((await signUp(api, user.email)).user.id).not.toBe(user.id);
  },
);
