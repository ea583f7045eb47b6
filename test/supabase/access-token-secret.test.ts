import { decodeProtectedHeader, SignJWT } from 'jose';
import { LOCAL_KEYS } from 'local-supabase/keys';
import { expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { forgeWith } from '../support/forge.ts';
import { testWithProject } from '../support/project.ts';
import { signUp } from '../support/test.ts';

// Projects from before 2026 may still sign access tokens with the shared secret.
const { jwtSecret: secret } = LOCAL_KEYS;
const test = testWithProject({ signing: 'HS256' }, { SUPABASE_JWT_SECRET: secret });

test.runIf(inject('stack').embedded)(
  'a project may sign with its shared secret, but a token of another key is rejected',
  async ({ project: { api } }) => {
    const { access_token, refresh_token, user } = await signUp(api);
    expect(decodeProtectedHeader(access_token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const profile = await api.get('/me').auth(access_token, bearer).expect(200);
    expect(profile.body.data.id).toBe(user.id);
    const { data } = (await api.post('/auth/refresh').send({ refresh_token }).expect(200)).body;
    await api.post('/auth/signout').auth(data.access_token, bearer).expect(200);

    const exp = Math.floor(Date.now() / 1000) + 3600;
    const claims = { sub: user.id, aud: 'authenticated', role: 'authenticated', exp };
    const hs512 = new SignJWT(claims).setProtectedHeader({ alg: 'HS512' });
    for (const [status, token] of [
      [200, forgeWith({ forging: 'HS256', secret }, claims)],
      [401, forgeWith({ forging: 'HS256', secret: 'x'.repeat(40) }, claims)],
      [401, hs512.sign(new TextEncoder().encode(secret))],
      [401, forgeWith({ forging: 'ES256', secret }, claims)], // a key pair that the project does not publish
    ] as const)
      await api
        .get('/categories')
        .auth(await token, bearer)
        .expect(status);
  },
);
