import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiOptions, startApi } from 'local-supabase/api';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { startPostgres } from 'local-supabase/postgres';
import postgres from 'postgres';
import { test as base, expect, inject } from 'vitest';
import { fixture } from '../../../test/support/fixture.ts';
import { preparedFolder } from '../../../test/support/prepared.ts';

// These tests describe what the service relies on in Supabase. They use HTTP and SQL alone, so that they also run against
// the project of TEST_SUPABASE_URL.

type Request = {
  /** Null sends none. Default: the publishable key. */
  apikey?: string | null;
  token?: string;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
};

// biome-ignore lint/suspicious/noExplicitAny: the tests look into bodies of every shape; unknown would be cast away in each of them
export type Answer = { status: number; headers: Headers; body: any };

export type User = { id: string; email: string; accessToken: string; refreshToken: string };

export type Supabase = {
  url: string;
  /** Address of the search in mails. */
  mailUrl: string;
  databaseUrl: string;
  publishableKey: string;
  secretKey: string;
  /** Empty if unknown. */
  jwtSecret: string;
  /** Connection as `postgres`, the role of migrations. */
  sql: postgres.Sql;
  call: (path: string, request?: Request) => Promise<Answer>;
  rpc: (name: string, args?: object, request?: Request) => Promise<Answer>;
  signUp: (email?: string, data?: object) => Promise<User>;
};

// Real hashing of passwords would take longer than all the rest.
process.env['LITE_AUTH_BCRYPT_COST'] = '4';

export const password = 'correct horse';
export const newEmail = () => `${randomUUID()}@example.com`;
const V2024 = { 'X-Supabase-Api-Version': '2024-01-01' };

export function clientOf(
  stack: Omit<Supabase, 'sql' | 'call' | 'rpc' | 'signUp'>,
  sql: postgres.Sql,
): Supabase {
  const call: Supabase['call'] = async (path, request = {}) => {
    const { apikey = stack.publishableKey, token, body, headers } = request;
    const response = await fetch(stack.url + path, {
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...V2024,
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
  return {
    ...stack,
    sql,
    call,
    rpc: (name, args = {}, request = {}) => call(`/rest/v1/rpc/${name}`, { ...request, body: args }),
    async signUp(email = newEmail(), data = {}) {
      const { status, body } = await call('/auth/v1/signup', { body: { email, password, data } });
      expect(status, JSON.stringify(body)).toBe(200);
      const { access_token: accessToken, refresh_token: refreshToken, user } = body;
      return { id: user.id, email: user.email, accessToken, refreshToken };
    },
  };
}

/** The status and the code of an answer, such as "400 user_banned". */
export async function codeOf(call: Promise<Answer>): Promise<string> {
  const { status, body } = await call;
  return `${status} ${body.statusCode ?? body.code}`;
}

type AuthSettings = Omit<ApiOptions, 'databaseUrl' | 'storageDir' | 'port'>;

/** Runs `use` on the project of the environment, or on a new stack without migrations. */
async function withSupabase(settings: AuthSettings, use: (supabase: Supabase) => Promise<void>) {
  const given = inject('stack');
  if (!given.embedded) {
    const sql = postgres(given.databaseUrl, { max: 4, onnotice() {} });
    await use(clientOf({ ...given, url: given.apiUrl }, sql));
    return sql.end();
  }
  const folder = await preparedFolder('bare');
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, durable: false });
  const { databaseUrl } = server;
  const api = await startApi({ ...settings, databaseUrl, storageDir: join(folder, 'storage'), port: 0 });
  const sql = postgres(databaseUrl, { max: 4, onnotice() {} });
  await use(clientOf({ url: api.url, mailUrl: api.url, databaseUrl, ...LOCAL_KEYS }, sql));
  await sql.end();
  await api.stop();
  await server.stop();
  await rm(folder, { recursive: true });
}

/** Test with a Supabase for the file. A project of the environment may have other settings of Auth. */
export const testWith = (settings: AuthSettings) =>
  base.extend<{ $file: { supabase: Supabase } }>({
    supabase: [fixture((use) => withSupabase(settings, use)), { scope: 'file' }],
  });

/** Test with the settings of `supabase start`. */
export const test = testWith({});

/** Test where new users must confirm their address. */
export const testWithConfirmations = testWith({ emailConfirmations: true });
