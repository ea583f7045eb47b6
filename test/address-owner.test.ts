import { randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { makeIdToken } from '../dev/identity-provider.ts';
import { type Api, bearer } from './support/api.ts';
import { testWithProject } from './support/project.ts';
import { newEmail, password, type Sql } from './support/test.ts';

const test = testWithProject({ emailConfirmations: true });

/** Somebody signs up with an address that may not be theirs, and confirms nothing. */
async function signUpUnconfirmed(api: Api, email: string) {
  const body = { email, password, full_name: 'Mallory' };
  await api.post('/auth/signup').send(body).expect(200);
}

/** Signs in with a provider that knows the address as theirs; returns their customer record. */
async function recordOf(api: Api, options: Parameters<typeof makeIdToken>[0]) {
  const session = await api
    .post('/auth/oauth/idp')
    .send({ id_token: await makeIdToken(options) })
    .expect(200);
  const customer = await api.get('/me/customer').auth(session.body.data.access_token, bearer).expect(200);
  return customer.body.data;
}

describe.runIf(inject('stack').embedded)(
  'where addresses must be confirmed, the customer record of an account',
  () => {
    test('that nobody confirmed starts anew for whoever proves with Google or Apple that the address is theirs', async ({
      project: { api },
    }) => {
      for (const [options, expected] of [
        [
          { provider: 'google', name: 'Ada', picture: 'https://a.example/ada.jpg' },
          { full_name: 'Ada', avatar_url: 'https://a.example/ada.jpg', provider: 'google', source: 'google' },
        ],
        [{ provider: 'apple' }, { full_name: null, avatar_url: null, provider: 'apple', source: 'apple' }],
      ] as const) {
        const email = newEmail();
        await signUpUnconfirmed(api, email);
        expect(await recordOf(api, { email, ...options })).toMatchObject({ email, ...expected });
      }
    });

    test('that was confirmed keeps name and source, whatever a provider says later', async ({
      project: { api },
      sql,
    }) => {
      const email = newEmail();
      await signUpUnconfirmed(api, email);
      await sql`update auth.users set email_confirmed_at = now() where email = ${email}`;
      const record = { full_name: 'Mallory', avatar_url: null, source: 'email' };
      expect(await recordOf(api, { email, name: 'Somebody' })).toMatchObject(record);
    });

    test('that a provider confirmed keeps the name its owner chose afterwards', async ({
      project: { api },
      sql,
    }) => {
      const email = newEmail();
      await signUpUnconfirmed(api, email);
      const { id } = await recordOf(api, { email, name: 'Ada' });
      await sql`update public.customers set full_name = 'Countess' where id = ${id}`;
      expect(await recordOf(api, { email, name: 'Ada Lovelace' })).toMatchObject({ full_name: 'Countess' });
    });
  },
);

/** Adds an account as Auth does for somebody who signs up with a password. */
async function addAccount(sql: Sql, metadata: object): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into auth.users (id, email, raw_user_meta_data, raw_app_meta_data) values
      (${id}, ${newEmail()}, ${JSON.stringify(metadata)}::text::jsonb, '{"provider": "email"}')`;
  return id;
}

test('an address confirmed by mail leaves the name and picture given at sign-up', async ({ sql }) => {
  const id = await addAccount(sql, { full_name: 'Ada', avatar_url: 'https://a.example/ada.jpg' });
  await sql`update auth.users set email_confirmed_at = now(), raw_user_meta_data = '{}' where id = ${id}`;
  const [customer] = await sql`select full_name, avatar_url, source from public.customers where id = ${id}`;
  expect(customer).toEqual({ full_name: 'Ada', avatar_url: 'https://a.example/ada.jpg', source: 'email' });
});
