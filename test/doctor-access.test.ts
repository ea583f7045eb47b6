import { describe, expect } from 'vitest';
import { rest } from './support/rest.ts';
import { test } from './support/test.ts';

describe('the database functions of the doctor', () => {
  test('are callable with the secret key alone', async ({ user }) => {
    const account = user.user.id;
    for (const [name, args] of [
      ['doctor_report', {}],
      ['doctor_session_addresses', { account }],
      ['doctor_issue_key', { account }],
      ['doctor_revoke_key', { prefix: 'sk_live_x' }],
    ] as const) {
      for (const token of [null, user.access_token]) {
        const { status, body } = await rest<{ code: string }>(token, 'POST', `rpc/${name}`, args);
        expect([name, status, body.code]).toEqual([name, token === null ? 401 : 403, '42501']);
      }
      expect((await rest('service', 'POST', `rpc/${name}`, args)).status).toBeLessThan(300);
    }
  });

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
