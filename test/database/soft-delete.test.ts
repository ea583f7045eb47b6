import { describe, expect, inject } from 'vitest';
import { rest } from '../support/rest.ts';
import { type Session, signUp, test } from '../support/test.ts';

/** Deletes an account in the dashboard's way that keeps its id. */
async function softDelete({ user }: Session): Promise<number> {
  const { apiUrl, secretKey } = inject('stack');
  const { status } = await fetch(`${apiUrl}/auth/v1/admin/users/${user.id}`, {
    method: 'DELETE',
    headers: { apikey: secretKey, 'Content-Type': 'application/json' },
    body: '{"should_soft_delete": true}',
  });
  return status;
}

describe('a soft delete', () => {
  test('leaves nothing in the customer record that tells who it was', async ({ api, sql }) => {
    const owner = await signUp(api);
    const { id, email } = owner.user;
    const changes = {
      full_name: 'Ada Lovelace',
      avatar_url: 'https://a.example/ada.jpg',
      phone: '+491701234567',
      locale: 'de-AT',
      country: 'AT',
      marketing_opt_in: true,
    };
    await rest(owner.access_token, 'POST', 'rpc/update_customer', { changes });
    expect(await softDelete(owner)).toBe(200);
    const [customer] = await sql`select * from public.customers where id = ${id}`;
    expect(customer).toEqual({
      id,
      email: null,
      full_name: null,
      avatar_url: null,
      phone: null,
      locale: null,
      country: null,
      provider: null,
      source: 'email',
      marketing_opt_in: false,
      is_active: false,
      last_seen_at: null,
      created_at: expect.any(Date),
      updated_at: expect.any(Date),
    });
    // The address is free again.
    expect((await signUp(api, email)).user.id).not.toBe(id);
  });

  test('empties the record of a customer who was banned or inactive before', async ({ api, sql }) => {
    for (const lockOut of [
      (id: string) => sql`update auth.users set banned_until = '2999-01-01' where id = ${id}`,
      (id: string) => sql`update public.customers set is_active = false where id = ${id}`,
    ]) {
      const owner = await signUp(api);
      await lockOut(owner.user.id);
      expect(await softDelete(owner)).toBe(200);
      const [customer] = await sql`select email, is_active from public.customers where id = ${owner.user.id}`;
      expect(customer).toEqual({ email: null, is_active: false });
    }
  });
});
