import { codeSentTo } from '../support/mail.ts';
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
