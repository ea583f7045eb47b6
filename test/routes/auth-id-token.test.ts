import { generateKeyPair } from 'jose';
import { type IdTokenOptions, makeIdToken } from 'local-supabase/identity-provider';
import { describe, expect, inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';

/** Exchanges a new ID token for a session. */
const exchange = async (api: Api, options: IdTokenOptions, path = 'idp') => {
  const id_token = await makeIdToken(options);
  const nonce = options.nonce === undefined ? {} : { nonce: options.nonce };
  return await api.post(`/auth/oauth/${path}`).send({ id_token, ...nonce });
};

const customerOf = async (api: Api, { access_token: token }: Session) =>
  (await api.get('/me/customer').auth(token, bearer)).body.data;

// A real project trusts only tokens of Google and Apple, which tests cannot sign.
describe.runIf(inject('stack').embedded)('an ID token', () => {
  test.for(['google', 'apple'] as const)(
    'an ID token of %s opens a session and makes the customer',
    async (provider, { api }) => {
      const email = newEmail();
      const first = await exchange(api, { provider, email, name: 'Ada', nonce: 'n-0S6_WzA2Mj' });
      expect(first.status).toBe(200);
      expect(first.body.data).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email } });
      expect(await customerOf(api, first.body.data)).toMatchObject({
        // Apple gives the name only to the app.
        full_name: provider === 'google' ? 'Ada' : null,
        source: provider,
      });
      const id_token = await makeIdToken({ provider, email });
      const again = await api.post(`/auth/oauth/${provider}`).send({ id_token, nonce: null }).expect(200);
      expect(again.body.data.user.id).toBe(first.body.data.user.id);
      const { refresh_token } = again.body.data;
      await api.post('/auth/refresh').send({ refresh_token }).expect(200);
    },
  );

  test('signs in to the account of its verified address, and keeps what its user edited', async ({ api }) => {
    const { user } = await signUp(api);
    const { email } = user;
    const { body } = await exchange(api, { email, name: 'Ada', picture: 'https://example.com/a.png' });
    expect(body.data.user).toEqual(user);
    await api.post('/auth/signin').send({ email, password }).expect(200);

    const edited = { full_name: 'Countess Lovelace', avatar_url: null };
    await api.patch('/me/customer').auth(body.data.access_token, bearer).send(edited).expect(200);
    const second = await exchange(api, { email, name: 'Ada', picture: 'https://example.com/b.png' });
    expect(await customerOf(api, second.body.data)).toMatchObject({
      id: user.id,
      source: 'email',
      ...edited,
    });
  });

  test('a forged, expired or malformed ID token gets 401 and makes no account', async ({ api, sql }) => {
    const email = newEmail();
    const { privateKey } = await generateKeyPair('ES256');
    const wrong: Record<string, IdTokenOptions> = {
      'another audience': { claims: { aud: 'another-app' } },
      'another issuer': { claims: { iss: 'https://accounts.example.com' } },
      'the issuer of the other provider': { claims: { iss: 'https://appleid.apple.com', sub: '' } },
      'another signature': { key: privateKey },
      'an expiry in the past': { claims: { exp: 1 } },
      'no subject': { claims: { sub: undefined } },
    };
    for (const [what, options] of Object.entries(wrong)) {
      for (const path of ['idp', 'google'])
        expect((await exchange(api, { email, ...options }, path)).status, `${what}, ${path}`).toBe(401);
    }
    expect((await exchange(api, { email }, 'apple')).status).toBe(401);
    const id_token = await makeIdToken({ email, nonce: 'right' });
    const plain = await makeIdToken({ email });
    for (const body of [
      { id_token },
      { id_token, nonce: 'wrong' },
      { id_token: plain, nonce: 'right' },
      ...['rubbish', 'a.b.c', `${plain}x`].map((rubbish) => ({ id_token: rubbish })),
    ])
      await api.post('/auth/oauth/idp').send(body).expect(401).expect('X-Error-Reason', 'id_token_refused');
    expect(await sql`select from auth.users where email = ${email}`).toHaveLength(0);
  });

  test('an ID token of a provider that is not configured gets 401', async () => {
    const gateway = await startGateway({ ID_TOKEN_PROVIDERS: 'google' });
    const api = apiAt(gateway.url);
    for (const path of ['idp', 'apple'])
      expect((await exchange(api, { provider: 'apple', email: newEmail() }, path)).status).toBe(401);
    expect((await exchange(api, { provider: 'google', email: newEmail() })).status).toBe(200);
    await gateway.close();
  });

  test('five exchanges at once make one account, and none once it is deactivated', async ({ api, sql }) => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(api, { email })));
    const users = answers.filter(({ status }) => status === 200).map(({ body }) => body.data.user.id);
    expect(new Set(users).size).toBe(1);
    await sql`update public.customers set is_active = false where id = ${users[0]}`;
    expect((await exchange(api, { email })).status).toBe(401);
  });
});
