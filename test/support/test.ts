import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { test as base, expect, inject } from 'vitest';
import { type Answer, call } from './api.ts';
import { alone } from './fixture.ts';
import { type Gateway, startGateway } from './gateway.ts';

export type Sql = postgres.Sql;

export type Session = {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_at: number;
  expires_in: number;
  user: { id: string; email: string };
};

export const password = 'correct horse battery';

export const newEmail = () => `${randomUUID()}@example.com`;

type Call = <T = unknown>(path: string, options?: Parameters<typeof call>[3]) => Promise<Answer<T>>;

export type Api = {
  url: string;
  get: Call;
  post: Call;
  send: <T = unknown>(
    method: string,
    path: string,
    options?: Parameters<typeof call>[3],
  ) => Promise<Answer<T>>;
  /** Makes a new account and returns its session. */
  signUp: (email?: string) => Promise<Session>;
};

export function apiOf(gateway: Pick<Gateway, 'url'>): Api {
  const send: Api['send'] = (method, path, options) => call(gateway.url, method, path, options);
  return {
    url: gateway.url,
    send,
    get: (path, options) => send('GET', path, options),
    post: (path, options) => send('POST', path, options),
    signUp: async (email = newEmail()) => {
      const answer = await send<{ data: Session }>('POST', '/auth/signup', { body: { email, password } });
      expect(answer.status).toBe(200);
      return answer.body.data;
    },
  };
}

/** vitest's test with what a test of the service needs; one of each for a file. */
export const test = base.extend<{ $file: { gateway: Gateway; api: Api; sql: Sql; user: Session } }>({
  gateway: [
    alone(async (use) => {
      const gateway = await startGateway();
      await use(gateway);
      await gateway.close();
    }),
    { scope: 'file' },
  ],
  api: [async ({ gateway }, use) => use(apiOf(gateway)), { scope: 'file' }],
  /** A connection as the project's postgres role: the admin of these tests. */
  sql: [
    alone(async (use) => {
      const sql = postgres(inject('stack').databaseUrl, { max: 4, onnotice: () => {} });
      await use(sql);
      await sql.end();
    }),
    { scope: 'file' },
  ],
  user: [async ({ api }, use) => use(await api.signUp()), { scope: 'file' }],
});
