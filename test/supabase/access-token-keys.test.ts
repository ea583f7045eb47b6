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

/** A signing key of a project, with the key set entry that it publishes. */
async function signingKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return {
    published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' },
    sign: (claims: object = {}) => signed('ES256', kid, claims, privateKey),
  };
}

type Project = {
  /** Number of times that the key set was fetched. */
  fetches: number;
  isAuthAway: boolean;
  /** Sent instead of the key set. */
  malformed: string | null;
  status: (token: string) => Promise<number>;
  wait: (ms: number) => void;
};

/** Runs `check` in front of a project that publishes these keys and has no sounds, with a clock that only `wait` advances. */
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

test('accepts a new signing key after 5 seconds, and looks up made-up keys no more often', async () => {
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

test('a withdrawn key lets nobody in after ten minutes, or once the key set is fetched again', async () => {
  const [staying, leaving] = [await signingKey('staying'), await signingKey('leaving')];
  const unknown = await (await signingKey('unknown')).sign();
  const [stays, leaves, late] = [await staying.sign(), await leaving.sign(), await leaving.sign({ late: 1 })];
  for (const isFetchedAgain of [false, true]) {
    const keys = [staying.published, leaving.published];
    await withKeys(keys, async ({ status, wait }) => {
      expect([await status(leaves), await status(stays)]).toEqual([200, 200]);
      keys.pop();
      wait(isFetchedAgain ? 6_000 : 299_000);
      // An unknown key has the key set fetched again. Otherwise a token that is new here is checked with the old key set.
      expect(await status(isFetchedAgain ? unknown : late)).toBe(isFetchedAgain ? 401 : 200);
      if (!isFetchedAgain) wait(301_000);
      expect([await status(late), await status(leaves), await status(stays)]).toEqual([401, 401, 200]);
    });
  }
});

test('a token of an anonymous user, or signed with the published key as a secret, gets 401', async () => {
  const { published, sign } = await signingKey('the-key');
  await withKeys([published], async ({ status }) => {
    expect(await status(await sign({ is_anonymous: false }))).toBe(200);
    expect(await status(await sign({ is_anonymous: true }))).toBe(401);
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

test('a malformed key set is 500, not 401, because it says nothing about the token', async () => {
  const { published, sign } = await signingKey('the-key');
  await withKeys([published], async (project) => {
    for (project.malformed of ['', '<h1>Welcome</h1>', '{"keys":', '{}', '{"keys":[1]}'])
      expect(await project.status(await sign())).toBe(500);
  });
});

test('keeps tokens valid for an hour while Auth, which publishes the keys, is away', async () => {
  const [known, unknown] = [await signingKey('known'), await signingKey('unknown')];
  await withKeys([known.published], async (project) => {
    const { status, wait } = project;
    const tokens = await Promise.all([1, 2, 3].map((session_id) => known.sign({ session_id })));
    const [first = '', second = '', third = ''] = tokens;
    expect(await status(first)).toBe(200);
    project.isAuthAway = true;
    wait(11 * 60_000);
    expect(await status(second)).toBe(200);
    expect(await status(await unknown.sign())).toBe(500); // it may be signed with a new key
    wait(48 * 60_000);
    expect(await status(third)).toBe(200);
  });
});
