import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { describe, expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { forgeWith } from '../support/forge.ts';
import { testWithProject } from '../support/project.ts';
import { password, signUp } from '../support/test.ts';

// Projects from before 2026 may still sign access tokens with the shared secret.
const { jwtSecret } = LOCAL_KEYS;
const test = testWithProject({ signing: 'HS256' }, { SUPABASE_JWT_SECRET: jwtSecret });

describe.runIf(inject('stack').embedded)('in front of a project that signs with its shared secret', () => {
  const key = { forging: 'HS256', secret: jwtSecret } as const;
  const claims = () => ({
    sub: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10',
    aud: 'authenticated',
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 3600,
  });

  test('a session of the shared secret opens the catalogue, refreshes and ends', async ({
    project: { api, url },
  }) => {
    const keySet = await fetch(`${url}/auth/v1/.well-known/jwks.json`);
    expect(await keySet.json()).toEqual({ keys: [] });
    const { access_token, refresh_token, user } = await signUp(api);
    expect(decodeProtectedHeader(access_token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(decodeJwt(access_token)).not.toHaveProperty('jti');
    const profile = await api.get('/me').auth(access_token, bearer).expect(200);
    expect(profile.body.data.id).toBe(user.id);
    const refresh = (token: string) => api.post('/auth/refresh').send({ refresh_token: token });
    const { data } = (await refresh(refresh_token).expect(200)).body;
    await api.get('/sounds').auth(data.access_token, bearer).expect(200);
    await api.post('/auth/signout').auth(data.access_token, bearer).expect(200);
    await refresh(data.refresh_token).expect(401);
    await api.post('/auth/signin').send({ email: user.email, password }).expect(200);
  });

  test('a token of the secret is taken', async ({ project: { api } }) => {
    await api
      .get('/categories')
      .auth(await forgeWith(key, claims()), bearer)
      .expect(200);
  });

  test.for<[string, () => Promise<string>]>([
    ['expired', () => forgeWith(key, { ...claims(), exp: Math.floor(Date.now() / 1000) - 1 })],
    ['of another audience', () => forgeWith(key, { ...claims(), aud: 'somebody else' })],
    ['of the role service_role', () => forgeWith(key, { ...claims(), role: 'service_role' })],
    ['of another secret', () => forgeWith({ ...key, secret: 'x'.repeat(40) }, claims())],
    ['signed with HS512', () => signed('HS512')],
    [
      'of a key pair that the project does not publish',
      () => forgeWith({ ...key, forging: 'ES256' }, claims()),
    ],
  ])('a token %s is rejected', async ([, make], { project: { api } }) => {
    await api
      .get('/categories')
      .auth(await make(), bearer)
      .expect(401);
  });

  const signed = (alg: string) =>
    new SignJWT(claims()).setProtectedHeader({ alg }).sign(new TextEncoder().encode(jwtSecret));
});
