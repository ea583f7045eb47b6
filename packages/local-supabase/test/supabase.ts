import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiOptions, startApi } from '@sounds-service/local-supabase/api';
import { localKeys } from '@sounds-service/local-supabase/keys';
import postgres from 'postgres';
import { test as base, expect, inject } from 'vitest';
import { fixture } from '../../../test/support/fixture.ts';
import { startDatabase } from '../../../test/support/prepared.ts';

// The tests of this folder describe the behaviour of Supabase that the service relies on. They use only HTTP and SQL,
// so that they can also run against the project of TEST_SUPABASE_URL.

export interface Request {
  /** API key; null for none. Default: the publishable key. */
  apikey?: string | null;
  token?: string;
  method?: string;
  body?: unknown;
  headers?: object;
}

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read bodies of every shape and would have to cast unknown
  body: any;
}

type Address = Record<'url' | 'mailUrl' | 'publishableKey' | 'secretKey' | 'jwtSecret', string>;

export type Supabase = Address & {
  /** Connection as `postgres`, the role of migrations. */
  sql: postgres.Sql;
  call: (path: string, request?: Request) => Promise<Answer>;
  /** Makes an account whose password is `password`. */
  signUp: () => Promise<{ id: string; email: string; accessToken: string; refreshToken: string }>;
};

export const password = 'correct horse';
export const newEmail = () => `${randomUUID()}@example.com`;

async function useDatabase(
  databaseUrl: string,
  address: Address,
  use: (supabase: Supabase) => Promise<void>,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 4, onnotice() {} });
  const call: Supabase['call'] = async (path, request = {}) => {
    const { apikey = address.publishableKey, token, body, headers } = request;
    const response = await fetch(address.url + path, {
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        'X-Supabase-Api-Version': '2024-01-01',
        ...(apikey !== null && { apikey }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') && text !== '';
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  };
  const signUp = async () => {
    const { status, body } = await call('/auth/v1/signup', { body: { email: newEmail(), password } });
    expect(status, JSON.stringify(body)).toBe(200);
    const { access_token: accessToken, refresh_token: refreshToken, user } = body;
    return { id: user.id, email: user.email, accessToken, refreshToken };
  };
  await use({ ...address, sql, call, signUp });
  await sql.end();
}

/** Returns the status and the code of a response, such as "400 user_banned". */
export async function codeOf(call: Promise<Answer>): Promise<string> {
  const { status, body } = await call;
  return `${status} ${body.statusCode ?? body.code}`;
}

export const signIn = ({ call }: Supabase, email: string, secret = password) =>
  call('/auth/v1/token?grant_type=password', { body: { email, password: secret } });

export const ban = ({ sql }: Supabase, id: string) =>
  sql`update auth.users set banned_until = '2999-01-01' where id = ${id}`;

export const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

type Settings = Omit<ApiOptions, 'databaseUrl' | 'storageDir' | 'port'>;

/**
 * Test function with one Supabase for the file: the project of TEST_SUPABASE_URL, which may have other settings, or a
 * separate one without migrations.
 */
export const testWith = (settings: Settings) =>
  base.extend<{ $file: { supabase: Supabase } }>({
    supabase: [
      fixture(async (use) => {
        const given = inject('stack');
        if (!given.embedded) return useDatabase(given.databaseUrl, { ...given, url: given.apiUrl }, use);
        const { databaseUrl, stop } = await startDatabase(17, 'bare');
        const storageDir = await mkdtemp(join(tmpdir(), 'local-supabase-'));
        const api = await startApi({ ...settings, databaseUrl, storageDir, port: 0 });
        await useDatabase(databaseUrl, { url: api.url, mailUrl: api.url, ...localKeys }, use);
        await api.stop();
        return stop();
      }),
      { scope: 'file' },
    ],
  });

/** Test function with the settings of `supabase start`. */
export const test = testWith({});
