import type { Supabase } from './supabase.ts';
import { password } from './supabase.ts';

export const signIn = (supabase: Supabase, email: string, secret = password) =>
  supabase.call('/auth/v1/token?grant_type=password', { body: { email, password: secret } });

export const signOut = (supabase: Supabase, token: string) =>
  supabase.call('/auth/v1/logout?scope=local', { method: 'POST', token });

export const ban = (supabase: Supabase, id: string) =>
  supabase.sql`update auth.users set banned_until = '2999-01-01' where id = ${id}`;

export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
