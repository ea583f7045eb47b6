import type { ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { describe, expect } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { forge } from '../support/forge.ts';
import { password, type Session, signUp, test } from '../support/test.ts';
import { ageSignIn } from './age-sign-in.ts';

const refresh = (api: Api, { refresh_token }: Session) => api.post('/auth/refresh').send({ refresh_token });

describe('DELETE /me', () => {
  test('ends sessions and removes the record, favorites and keys', async ({ api, sql }) => {
    const [leaving, staying] = [await signUp(api), await signUp(api)];
    const sound_id = await addSound(sql);
    for (const { access_token } of [leaving, staying])
      await api.post('/favorites').auth(access_token, bearer).send({ sound_id }).expect(201);
    const [key] = await sql`select api_key from admin.create_api_key('Partner', ${leaving.user.email})`;
    await api.get('/me').auth(key?.['api_key'], bearer).expect(200);

    await api.delete('/me').auth(key?.['api_key'], bearer).expect(401);
    const access = (await refresh(api, leaving).expect(200)).body.data.access_token; // a refresh keeps the sign-in
    await api
      .delete('/me')
      .auth(access, bearer)
      .expect(200, { data: { ok: true } });

    await refresh(api, leaving).expect(401);
    await api.post('/auth/signin').send({ email: leaving.user.email, password }).expect(401);
    for (const path of ['/me', '/me/customer', '/favorites'])
      for (const credential of [access, key?.['api_key']])
        await api.get(path).auth(credential, bearer).expect(401);
    await api.delete('/me').auth(access, bearer).expect(401);
    const leftovers = await sql`
      select (select count(*) from auth.users where id = ${leaving.user.id})::int as users,
        (select count(*) from public.customers where id = ${leaving.user.id})::int as customers,
        (select count(*) from public.favorites where user_id = ${leaving.user.id})::int as favorites,
        (select count(*) from private.api_keys where owner_id = ${leaving.user.id})::int as keys`;
    expect(leftovers).toEqual([{ users: 0, customers: 0, favorites: 0, keys: 0 }]);

    const { body } = await api.get('/favorites').auth(staying.access_token, bearer).expect(200);
    expect(body.data).toMatchObject([{ sound_id }]);
    await signUp(api, leaving.user.email); // the address is free again
  });

  test('rejects a session that has ended or belongs to a deactivated customer', async ({ api, sql }) => {
    const owner = await signUp(api);
    const thief = (await api.post('/auth/signin').send({ email: owner.user.email, password }).expect(200))
      .body.data;
    await api
      .post('/auth/password')
      .auth(owner.access_token, bearer)
      .send({ password: `${password}, new` })
      .expect(200);
    await api.delete('/me').auth(thief.access_token, bearer).expect(401);
    await api.get('/me').auth(owner.access_token, bearer).expect(200);
    await sql`update public.customers set is_active = false where id = ${owner.user.id}`;
    await api.delete('/me').auth(owner.access_token, bearer).expect(401);
    expect(await sql`select from auth.users where id = ${owner.user.id}`).toHaveLength(1);
  });
});

describe.for([
  ['DELETE /me', 'Sign in again to delete the account.', (api: Api) => api.delete('/me')],
  [
    'POST /auth/password',
    'Sign in again to change the password.',
    (api: Api) => api.post('/auth/password').send({ password: `${password}, new` }),
  ],
] as const)('%s', ([, message, request]) => {
  const rejected = async (api: Api, token: string) => {
    const { body } = await request(api)
      .auth(token, bearer)
      .expect(401)
      .expect('X-Error-Reason', 'recent_sign_in_required');
    expect(body.error.message).toBe(message);
  };

  test('needs a sign-in within the last 15 minutes: a refresh is none', async ({ api, sql }) => {
    const session = await signUp(api);
    await ageSignIn(sql, session.user.id);
    await rejected(api, (await refresh(api, session).expect(200)).body.data.access_token);
    const again = await api.post('/auth/signin').send({ email: session.user.email, password }).expect(200);
    await request(api).auth(again.body.data.access_token, bearer).expect(200);
  });

  test('counts passwords, mailed codes and ID tokens as sign-ins', async ({ api, skip }) => {
    const now = Math.floor(Date.now() / 1000);
    const old = { method: 'password', timestamp: now - 16 * 60 };
    for (const [amr, isRejected] of [
      [undefined, true],
      [[old], true],
      [[{ method: 'totp', timestamp: now }, old], true],
      [[{ method: 'mfa/phone', timestamp: now }, old], true],
      [[{ method: 'password', timestamp: now }], false],
      [[old, { method: 'otp', timestamp: now }], false],
      [[old, { method: 'oauth', timestamp: now }], false],
    ] as const) {
      const { access_token } = await signUp(api);
      const token = await forge(skip, { ...decodeJwt(access_token), amr });
      if (isRejected) await rejected(api, token);
      else await request(api).auth(token, bearer).expect(200);
    }
  });
});

test('two devices that delete their account at once delete it once, with both sessions checked', async () => {
  const calls: string[] = [];
  let deletion: ServerResponse | undefined;
  await withSupabase(
    (req, res) => {
      calls.push(req.method ?? '');
      if (req.method === 'DELETE') deletion = res;
      else res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      // Not before the other is as far.
      if (deletion && calls.filter((method) => method === 'GET').length === 2)
        deletion.writeHead(200).end('{}');
    },
    async (api) => {
      const tokens = await Promise.all(
        [1, 2].map((session) => token(undefined, { session_id: `${session}` })),
      );
      const sent = [...tokens, ...tokens]; // each device sends it twice
      await Promise.all(sent.map((each) => api.delete('/me').auth(each, bearer).expect(200)));
    },
  );
  expect(calls.toSorted()).toEqual(['DELETE', 'GET', 'GET']);
});
