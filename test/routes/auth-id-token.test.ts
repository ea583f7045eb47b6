import { type IdTokenOptions, makeIdToken } from '@sounds-service/local-supabase/identity-provider';
import { generateKeyPair } from 'jose';
import { describe, expect, inject } from 'vitest';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { newEmail, password, type Session, signUp, test } from '../support/test.ts';

const exchange = async (api: Api, { nonce, ...options }: IdTokenOptions, path = 'idp') => {
  const id_token = await makeIdToken({ ...options, ...(nonce !== undefined && { nonce }) });
  return await api.post(`/auth/oauth/${path}`).send({ id_token, nonce: nonce ?? null });
};

const customerOf = async (api: Api, { access_token: token }: Session) =>
  (await api.get('/me/customer').auth(token, bearer)).body.data;

// A real project trusts only tokens of Google and Apple, which tests cannot sign.
describe.runIf(inject('stack').embedded)('an ID token', () => {
  test.for(['google', 'apple'] as const)(
    'an ID token of %s opens a session and creates the customer',
    async (provider, { api }) => {
      const email = newEmail();
      const { status, body } = await exchange(api, { provider, email, name: 'Ada', nonce: 'n-0S6_WzA2Mj' });
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { email } });
      const full_name = provider === 'google' ? 'Ada' : null; // Apple sends the name only to the app
      expect(await customerOf(api, body.data)).toMatchObject({ full_name, source: provider });
      const long = { note: 'x'.repeat(13_000) }; // exceeds the limit of 16 KB for other bodies
      const again = await exchange(api, { provider, email, claims: long }, provider);
      expect(again.body.data.user.id).toBe(body.data.user.id);
      const { refresh_token } = again.body.data;
      await api.post('/auth/refresh').send({ refresh_token }).expect(200);
      const nameless = await exchange(api, { provider, sub: newEmail() });
      expect(nameless.body.data.user.email).toBeNull();
    },
  );

  test('signs in to the account with its address until the account is deactivated', async ({ api, sql }) => {
    const { user } = await signUp(api);
    const { email } = user;
    const { body } = await exchange(api, { email, name: 'Ada', picture: 'https://example.com/a.png' });
    expect(body.data.user).toEqual(user);
    await api.post('/auth/signin').send({ email, password }).expect(200);

    const edited = { full_name: 'Countess Lovelace', avatar_url: null };
    await api.patch('/me/customer').auth(body.data.access_token, bearer).send(edited).expect(200);
    const second = await exchange(api, { email, name: 'Ada', picture: 'https://example.com/b.png' });
    const kept = { id: user.id, source: 'email', ...edited };
    expect(await customerOf(api, second.body.data)).toMatchObject(kept);
    await sql`update public.customers set is_active = false where id = ${user.id}`;
    expect((await exchange(api, { email })).status).toBe(401);
  });

  test('a forged, expired or malformed ID token gets 401 and creates no account', async ({ api, sql }) => {
    const email = newEmail();
    const { privateKey } = await generateKeyPair('ES256');
    const wrong: IdTokenOptions[] = [
      { claims: { aud: 'another-app' } },
      { claims: { iss: 'https://accounts.example.com' } },
      { claims: { iss: 'https://appleid.apple.com', sub: '' } },
      { key: privateKey },
      { claims: { exp: 1 } },
      { claims: { sub: undefined } },
    ];
    for (const [index, options] of wrong.entries())
      for (const path of ['idp', 'google'])
        expect([index, path, (await exchange(api, { email, ...options }, path)).status]).toEqual([index, path, 401]);
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
    const { url, close } = await startGateway({ ID_TOKEN_PROVIDERS: 'google' });
    for (const path of ['idp', 'apple'])
      expect((await exchange(apiAt(url), { provider: 'apple', email: newEmail() }, path)).status).toBe(401);
    await close();
  });
});
