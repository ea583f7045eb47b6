import type { RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, vi } from 'vitest';
import { sharedSecret } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

const signed = (alg: string, kid: string, claims: object, key: Parameters<SignJWT['sign']>[0]) =>
  new SignJWT({ sub: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', role: 'authenticated', ...claims })
    .setProtectedHeader({ alg, kid })
    .setAudience('authenticated')
    .setExpirationTime('1h')
    .sign(key);

/** Makes a signing key of a project, with its entry in the key set. */
async function signingKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return {
    published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' },
    sign: (claims: object = {}) => signed('ES256', kid, claims, privateKey),
  };
}

interface Project {
  /** Number of requests for the key set. */
  fetches: number;
  isAuthAway: boolean;
  /** Response that replaces the key set, if not null. */
  malformed: string | null;
  status: (token: string) => Promise<number>;
  wait: (ms: number) => void;
}

/** Runs `check` with a project that publishes these keys and has no sounds, and a clock that only `wait` advances. */
async function withKeys(keys: object[], check: (project: Project) => Promise<void>, secret = '') {
  const seen = { fetches: 0, isAuthAway: false, malformed: null };
  const behave: RequestListener = (req, res) => {
    res.setHeader('Content-Type', 'application/json');
    if (!req.url?.endsWith('/jwks.json')) return res.end('{"data":[],"next_cursor":null}');
    seen.fetches++;
    return seen.isAuthAway ? res.writeHead(503).end() : res.end(seen.malformed ?? JSON.stringify({ keys }));
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  const runCheck = async (api: Api) => {
    const status = async (token: string) => (await api.get('/sounds').auth(token, bearer)).status;
    const wait = (ms: number) => vi.setSystemTime(Date.now() + ms);
    await check(Object.assign(seen, { status, wait }));
  };
  await withSupabase(behave, runCheck, { SUPABASE_JWT_SECRET: secret }).finally(() => vi.useRealTimers());
}

test('a new signing key is accepted after 5 s, and unknown keys fetch the key set once per 5 s', async () => {
  const [old, next, madeUp] = [await signingKey('old'), await signingKey('new'), await signingKey('made-up')];
  const keys = [old.published];
  await withKeys(keys, async (project) => {
    const { status, wait } = project;
    expect(await status(await old.sign())).toBe(200);
    keys.push(next.published);
    const token = await next.sign();
    expect(await status(token)).toBe(401);
    wait(5_000);
    expect(await status(token)).toBe(200);
    expect(project.fetches).toBe(2);
    for (const fetches of [2, 3]) {
      for (let count = 0; count < 20; count++) expect(await status(await madeUp.sign({ count }))).toBe(401);
      expect(project.fetches).toBe(fetches);
      wait(5_000);
    }
  });
});

test('a withdrawn key is rejected after ten minutes, or when the key set is fetched again', async () => {
  const [staying, leaving] = [await signingKey('staying'), await signingKey('leaving')];
  const unknown = await (await signingKey('unknown')).sign();
  const [stays, leaves, late] = [await staying.sign(), await leaving.sign(), await leaving.sign({ late: 1 })];
  for (const isFetchedAgain of [false, true]) {
    const keys = [staying.published, leaving.published];
    await withKeys(keys, async ({ status, wait }) => {
      expect([await status(leaves), await status(stays)]).toEqual([200, 200]);
      keys.pop();
      wait(isFetchedAgain ? 6_000 : 299_000);
      // An unknown key causes a request for the key set. Otherwise a new token is checked with the cached key set.
      expect(await status(isFetchedAgain ? unknown : late)).toBe(isFetchedAgain ? 401 : 200);
      if (!isFetchedAgain) wait(301_000);
      expect([await status(late), await status(leaves), await status(stays)]).toEqual([401, 401, 200]);
    });
  }
});

test('accepts a token of a guest, but none signed with the published key as a secret', async () => {
  const { published, sign } = await signingKey('the-key');
  await withKeys([published], async ({ status }) => {
    expect(await status(await sign({ is_anonymous: false }))).toBe(200);
    expect(await status(await sign({ is_anonymous: true }))).toBe(200);
    const { kid, alg: _, ...publicKey } = published;
    const secret = new TextEncoder().encode(JSON.stringify(publicKey));
    expect(await status(await signed('HS256', kid, {}, secret))).toBe(401);
  });
});

test('a project may sign with its shared secret, but a token of another key gets 401', async () => {
  const [ours, other] = [await signingKey('ours'), await signingKey('other')];
  const signedWith = (alg: string, secret: string) => signed(alg, 'ours', {}, new TextEncoder().encode(secret));
  const check = async ({ status }: Project) => {
    for (const [expected, token] of [
      [200, signedWith('HS256', sharedSecret)],
      [200, ours.sign()],
      [401, signedWith('HS256', 'x'.repeat(40))],
      [401, signedWith('HS512', sharedSecret)],
      [401, other.sign()],
    ] as const)
      expect(await status(await token)).toBe(expected);
  };
  await withKeys([ours.published], check, sharedSecret);
});

test('a malformed key set results in 500, not 401, because the token may be valid', async () => {
  const { published, sign } = await signingKey('the-key');
  await withKeys([published], async (project) => {
    for (project.malformed of ['', '<h1>Welcome</h1>', '{"keys":', '{}', '{"keys":[1]}'])
      expect(await project.status(await sign())).toBe(500);
  });
});

test('tokens stay valid for an hour while Auth, which publishes the keys, does not answer', async () => {
  const [known, unknown] = [await signingKey('known'), await signingKey('unknown')];
  await withKeys([known.published], async (project) => {
    const { status, wait } = project;
    const tokens = await Promise.all([1, 2, 3].map((session_id) => known.sign({ session_id })));
    const [first = '', second = '', third = ''] = tokens;
    expect(await status(first)).toBe(200);
    project.isAuthAway = true;
    wait(11 * 60_000);
    expect(await status(second)).toBe(200);
    expect(await status(await unknown.sign())).toBe(500); // the token may be signed with a new key
    wait(48 * 60_000);
    expect(await status(third)).toBe(200);
  });
});
