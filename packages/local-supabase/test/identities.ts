import { type IdTokenOptions, makeIdToken } from 'local-supabase/identity-provider';
import postgres from 'postgres';
import { expect, inject } from 'vitest';
import { fixture } from '../../../test/support/fixture.ts';
import { test as base, clientOf, type Supabase } from './supabase.ts';

/** On the stack that has our migrations, where addresses need no confirmation. */
export const test = base.extend<{ $file: { supabase: Supabase } }>({
  supabase: [
    fixture(async (use) => {
      const stack = inject('stack');
      const sql = postgres(stack.databaseUrl, { max: 4, onnotice() {} });
      await use(clientOf({ ...stack, url: stack.apiUrl }, sql));
      await sql.end();
    }),
    { scope: 'file' },
  ],
});

export const exchange = (supabase: Supabase, id_token: string, more: object = {}) =>
  supabase.call('/auth/v1/token?grant_type=id_token', { body: { provider: 'google', id_token, ...more } });

/** Makes a token and exchanges it, which must work. */
export async function signInWith(supabase: Supabase, options: IdTokenOptions) {
  const { provider = 'google' } = options;
  const { status, body } = await exchange(supabase, await makeIdToken(options), { provider });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
