import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, inject, onTestFinished, vi } from 'vitest';
import { apiAt, bearer } from '../support/api.ts';
import { forge, type Skip } from '../support/forge.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

const secretOf = (text: string) => new TextEncoder().encode(text);
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const userId = '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10';

/** Claims like those of Supabase Auth. The changes replace some; undefined removes one. */
const claimsWith = (changes: Record<string, unknown> = {}) => ({
  sub: userId,
  aud: 'authenticated',
  role: 'authenticated',
  exp: inSeconds(3600),
  ...changes,
});

const claims = () => new SignJWT(claimsWith());

describe('an access token', () => {
  const signed = (skip: Skip, changes?: Record<string, unknown>) => forge(skip, claimsWith(changes));

  test('a valid access token is accepted', async ({ api, user }) => {
    await api.get('/sounds').auth(user.access_token, bearer).expect(200);
  });

  test('accepts Bearer in any case and with spaces', async ({ api, user }) => {
    for (const authorization of [`bearer ${user.access_token}`, `BEARER   ${user.access_token} `]) {
      await api.get('/sounds').set('Authorization', authorization).expect(200);
    }
  });

  // test/contract tries more of them on every endpoint.
  const tokens: Record<string, (skip: Skip) => Promise<string> | string> = {
    'not valid yet': (skip) => signed(skip, { nbf: inSeconds(60) }),
    'without an expiry time': (skip) => signed(skip, { exp: undefined }),
    'without an audience': (skip) => signed(skip, { aud: undefined }),
    'of the role anon': (skip) => signed(skip, { role: 'anon' }),
    'without a subject': (skip) => signed(skip, { sub: undefined }),
    'whose subject is no uuid': (skip) => signed(skip, { sub: 'admin' }),
    'with ES256 and an unknown key': async () =>
      claims()
        .setProtectedHeader({ alg: 'ES256', kid: 'unknown' })
        .sign((await generateKeyPair('ES256')).privateKey),
    'with an unknown critical header': async (skip) => {
      const [header = '', payload, signature] = (await signed(skip)).split('.');
      const critical = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), crit: ['x'], x: 1 };
      return `${Buffer.from(JSON.stringify(critical)).toString('base64url')}.${payload}.${signature}`;
    },
    'whose header is not JSON': () => `${Buffer.from('rubbish').toString('base64url')}.e30.x`,
    'whose payload was changed': async (skip) => {
      const [header, , signature] = (await signed(skip)).split('.');
      return `${header}.${Buffer.from('{"role":"authenticated"}').toString('base64url')}.${signature}`;
    },
    'of two dots': () => '../..',
    'of 8,000 letters': () => 'x'.repeat(8000),
    'of more than 8 KB': (skip) => signed(skip, { user_metadata: { note: 'x'.repeat(6000) } }),
    'which is the publishable key': () => inject('stack').publishableKey,
    'which is the secret key': () => inject('stack').secretKey,
  };
  for (const [what, make] of Object.entries(tokens)) {
    test(`an access token ${what} gets 401 invalid_token`, async ({ api, skip }) => {
      const token = await make(skip);
      await api
        .get('/sounds')
        .auth(token, bearer)
        .expect(401)
        .expect('WWW-Authenticate', 'Bearer realm="sounds", error="invalid_token"');
    });
  }

  test('an access token with padding or spare bits gets 401', async ({ api, user, skip }) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const next = (char: string) => alphabet[alphabet.indexOf(char) + 1] ?? '';
    // At least two of three lengths leave unused bits at the end of the base64url.
    const tokens = await Promise.all(['', 'x', 'xx'].map((note) => signed(skip, { note })));
    for (const token of [user.access_token, ...tokens]) {
      await api.get('/sounds').auth(token, bearer).expect(200);
      const segments = token.split('.');
      const respelt = segments.flatMap((segment, at) => {
        if (segment.length % 4 === 0) return [];
        const other = segment.slice(0, -1) + next(segment.at(-1) ?? '');
        return [segments.with(at, other).join('.')];
      });
      for (const spelling of [`${token}=`, `${token}==`, ...respelt])
        await api.get('/sounds').auth(spelling, bearer).expect(401);
    }
  });

  test('an access token in another scheme, or sent twice, gets 401', async ({ api, user }) => {
    for (const authorization of [
      'Basic YTpi',
      user.access_token,
      'Bearer',
      'Bearer ',
      `Bearer ${user.access_token}, Bearer ${user.access_token}`,
    ]) {
      await api.get('/sounds').set('Authorization', authorization).expect(401);
    }
  });

  test('an access token is rejected as soon as it has expired', async ({ api, skip }) => {
    const exp = inSeconds(60);
    const token = await signed(skip, { exp });
    const status = async () => (await api.get('/categories').auth(token, bearer)).status;
    vi.useFakeTimers({ toFake: ['Date'], now: 1000 * (exp - 1) });
    onTestFinished(() => void vi.useRealTimers());
    expect(await status()).toBe(200);
    vi.setSystemTime(1000 * exp);
    expect(await status()).toBe(401);
  });
});

describe('an access token signed with a key of the project', () => {
  test('a token is verified with the published key, and gets 500 without key set', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] });
    const upstream = createServer((req, res) => {
      if (req.url?.endsWith('/jwks.json')) res.setHeader('Content-Type', 'application/json').end(keySet);
      else if (req.url === '/rest/v1/rpc/list_categories')
        res.setHeader('Content-Type', 'application/json').end('[]');
      else res.writeHead(404).end();
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const SUPABASE_URL = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const first = await startGateway({ SUPABASE_URL });
    const second = await startGateway({ SUPABASE_URL });
    const token = await claims().setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
    const confused = await claims()
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(secretOf(JSON.stringify(await exportJWK(publicKey))));

    await apiAt(first.url).get('/categories').auth(token, bearer).expect(200);
    await apiAt(first.url).get('/categories').auth(confused, bearer).expect(401);
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await apiAt(second.url).get('/categories').auth(token, bearer).expect(500);
    await Promise.all([first.close(), second.close()]);
  });
});
