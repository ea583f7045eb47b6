import { describe, expect } from 'vitest';
import { rest } from '../support/rest.ts';
import { test } from '../support/test.ts';

describe('the database functions of the doctor', () => {
  test('neither reveal nor change anything of accounts that the doctor did not make', async ({
    sql,
    user,
  }) => {
    const account = user.user.id;
    const [issued] =
      await sql`select api_key, key_prefix from admin.create_api_key('Real', ${user.user.email})`;
    expect(await rest('service', 'POST', 'rpc/doctor_issue_key', { account })).toMatchObject({ body: null });
    expect(await rest('service', 'POST', 'rpc/doctor_session_addresses', { account })).toMatchObject({
      body: [],
    });
    await rest('service', 'POST', 'rpc/doctor_revoke_key', { prefix: issued?.['key_prefix'] });
    const keys = await sql`select revoked_at from private.api_keys where owner_id = ${account}`;
    expect(keys).toEqual([{ revoked_at: null }]);
  });
});
