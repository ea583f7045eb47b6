import { type IdTokenOptions, makeIdToken } from 'local-supabase/identity-provider';
import { expect } from 'vitest';
import { codeSentTo } from '../../../test/support/mail.ts';
import { password, type Supabase } from './supabase.ts';

export const signIn = (supabase: Supabase, email: string, secret = password) =>
  supabase.call('/auth/v1/token?grant_type=password', { body: { email, password: secret } });

export const refresh = (supabase: Supabase, refresh_token: string) =>
  supabase.call('/auth/v1/token?grant_type=refresh_token', { body: { refresh_token } });

export const signOut = (supabase: Supabase, token: string, scope = '?scope=local') =>
  supabase.call(`/auth/v1/logout${scope}`, { method: 'POST', token });

export const ban = (supabase: Supabase, id: string) =>
  supabase.sql`update auth.users set banned_until = '2999-01-01' where id = ${id}`;

export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

export const recover = (supabase: Supabase, email: string) =>
  supabase.call('/auth/v1/recover', { body: { email } });

export const resend = (supabase: Supabase, email: string) =>
  supabase.call('/auth/v1/resend', { body: { type: 'signup', email } });

export const verify = (supabase: Supabase, type: 'signup' | 'recovery', email: string, token: string) =>
  supabase.call('/auth/v1/verify', { body: { type, email, token } });

/** Asks for a code and reads it from the mail. */
export async function recoveryCode(supabase: Supabase, email: string): Promise<string> {
  await recover(supabase, email);
  return codeSentTo(supabase.mailUrl, email);
}

export const changePassword = (supabase: Supabase, token: string, body: object) =>
  supabase.call('/auth/v1/user', { method: 'PUT', token, body });

export const exchange = (supabase: Supabase, id_token: string, more: object = {}) =>
  supabase.call('/auth/v1/token?grant_type=id_token', { body: { provider: 'google', id_token, ...more } });

/** Makes a token and exchanges it, which must work. */
export async function signInWith(supabase: Supabase, options: IdTokenOptions) {
  const { provider = 'google' } = options;
  const { status, body } = await exchange(supabase, await makeIdToken(options), { provider });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/**
 * Makes calls that add one and the same user meet: each finds that there is none yet.
 * @param calls how many of them wait for an address that is about to be given away; in the end it is free
 */
export async function atOnce<T>({ sql }: Supabase, email: string, calls: (() => Promise<T>)[]): Promise<T[]> {
  const connection = await sql.reserve();
  try {
    await connection`begin`;
    await connection`insert into auth.users (id, email) values (gen_random_uuid(), ${email})`;
    const answers = Promise.all(calls.map((call) => call()));
    await expect
      .poll(async () => {
        const [row] = await connection`
          select count(*)::int as waiting from pg_locks
            where transactionid::text = pg_current_xact_id()::xid::text and not granted`;
        return row?.['waiting'];
      })
      .toBe(calls.length);
    await connection`rollback`;
    return await answers;
  } finally {
    connection.release();
  }
}
