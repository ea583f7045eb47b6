import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { test as base, inject } from 'vitest';
import { type Api, apiAt, bearer } from './api.ts';
import { fixture } from './fixture.ts';
import { type Gateway, startGateway } from './gateway.ts';

export type Sql = postgres.Sql;

export interface Session {
  access_token: string;
  refresh_token: string;
  token_type: string;
  expires_at: number;
  expires_in: number;
  user: { id: string; email: string };
}

export const password = 'correct horse battery';

export const newEmail = () => `${randomUUID()}@example.com`;

/** Creates an account. Returns its session. */
export async function signUp(api: Api, email = newEmail()): Promise<Session> {
  const { body } = await api.post('/auth/signup').send({ email, password }).expect(200);
  return body.data;
}

/** Returns a client that sends this credential with every request. */
export const clientWith = (gateway: Gateway, token: string): Api => apiAt(gateway.url).auth(token, bearer);

/** Creates an account. Returns its session and a client with its token. */
export async function newUser(gateway: Gateway) {
  const session = await signUp(apiAt(gateway.url));
  return { ...session, app: clientWith(gateway, session.access_token) };
}

/** Issues an API key as an admin does. */
export async function issueKey(sql: Sql, { user }: Session, scope = 'all'): Promise<string> {
  const [row] = await sql`select api_key from admin.create_api_key('Partner', ${user.email}, scope => ${scope})`;
  return row?.['api_key'];
}

/** Test function with the fixtures of this service. Each fixture exists once for a file. */
export const test = base.extend<{ $file: { gateway: Gateway; api: Api; sql: Sql; user: Session; app: Api } }>({
  gateway: [
    fixture(async (use) => {
      const gateway = await startGateway();
      await use(gateway);
      await gateway.close();
    }),
    { scope: 'file' },
  ],
  api: [async ({ gateway }, use) => use(apiAt(gateway.url)), { scope: 'file' }],
  /** Connection as the role `postgres`, the administrator in these tests. */
  sql: [
    fixture(async (use) => {
      const sql = postgres(inject('stack').databaseUrl, { max: 4, onnotice: () => {} });
      await use(sql);
      await sql.end();
    }),
    { scope: 'file' },
  ],
  user: [async ({ api }, use) => use(await signUp(api)), { scope: 'file' }],
  app: [async ({ gateway, user }, use) => use(clientWith(gateway, user.access_token)), { scope: 'file' }],
});
