import type { RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, vi } from 'vitest';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { test } from '../support/test.ts';

/** A signing key of a project, with the key set entry that it publishes. */
async function signingKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  return {
    published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' },
    sign: (claims: object = {}) =>
      new SignJWT({ sub: '7d9f1a52-4f0e-4b43-9a5e-0d9d3c1b2a10', role: 'authenticated', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setAudience('authenticated')
        .setExpirationTime('1h')
        .sign(privateKey),
  };
}

/** A Supabase that publishes these keys and has no sounds. */
function publishing(keys: object[]) {
  const seen = { fetches: 0 };
  const behave: RequestListener = (req, res) => {
    res.setHeader('Content-Type', 'application/json');
    if (req.url?.endsWith('/jwks.json')) {
      seen.fetches++;
      res.end(JSON.stringify({ keys }));
    } else res.end(req.url?.includes('list_categories') ? '[]' : '{"data":[],"next_cursor":null}');
  };
  return { seen, behave };
}

/** Runs `check` with a clock that only `wait` advances. */
async function withClock(check: (wait: (ms: number) => void) => Promise<void>) {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    await check((ms) => vi.setSystemTime(Date.now() + ms));
  } finally {
    vi.useRealTimers();
  }
}

test('accepts a new signing key after 5 seconds, and looks up made-up keys no more often', async () => {
  const [old, next, madeUp] = [await signingKey('old'), await signingKey('new'), await signingKey('made-up')];
  const keys = [old.published];
  const { seen, behave } = publishing(keys);
  await withSupabase(behave, (api) =>
    withClock(async (wait) => {
      const status = async (token: string) => (await api.get('/sounds').auth(token, bearer)).status;
      expect(await status(await old.sign())).toBe(200);
      keys.push(next.published);
      const token = await next.sign();
      expect(await status(token)).toBe(401);
      wait(5_000);
      expect(await status(token)).toBe(200);
      expect(seen.fetches).toBe(2);
      for (const fetches of [2, 3]) {
        for (let count = 0; count < 20; count++) expect(await status(await madeUp.sign({ count }))).toBe(401);
        expect(seen.fetches).toBe(fetches);
        wait(5_000);
      }
    }),
  );
});

describe('a key that the project has withdrawn', () => {
  /** Two keys, an accepted token of each, and a gateway whose clock can be advanced. */
  async function withTwoKeys(
    check: (given: {
      status: (token: string) => Promise<number>;
      tokens: { staying: string; leaving: string };
      withdraw: () => void;
      wait: (ms: number) => void;
      another: () => Promise<string>;
    }) => Promise<void>,
  ) {
    const [staying, leaving, unknown] = [
      await signingKey('staying'),
      await signingKey('leaving'),
      await signingKey('unknown'),
    ];
    const keys = [staying.published, leaving.published];
    const tokens = { staying: await staying.sign(), leaving: await leaving.sign() };
    await withSupabase(publishing(keys).behave, (api) =>
      withClock((wait) =>
        check({
          status: async (token) => (await api.get('/sounds').auth(token, bearer)).status,
          tokens,
          withdraw: () => keys.pop(),
          wait,
          another: () => unknown.sign(),
        }),
      ),
    );
  }

  test('a withdrawn key lets nobody in after ten minutes', async () => {
    await withTwoKeys(async ({ status, tokens: { staying, leaving }, withdraw, wait }) => {
      expect([await status(leaving), await status(staying)]).toEqual([200, 200]);
      withdraw();
      wait(9 * 60_000);
      await status(leaving);
      wait(61_000);
      expect([await status(leaving), await status(staying)]).toEqual([401, 200]);
    });
  });

  test('a withdrawn key lets nobody in once the key set is fetched again', async () => {
    await withTwoKeys(async ({ status, tokens: { staying, leaving }, withdraw, wait, another }) => {
      expect([await status(leaving), await status(staying)]).toEqual([200, 200]);
      withdraw();
      wait(6_000); // a key set is fetched again for an unknown key, but not at once
      expect(await status(await another())).toBe(401);
      expect([await status(leaving), await status(staying)]).toEqual([401, 200]);
    });
  });
});

test('an anonymous user of Supabase gets 401 on every endpoint', async () => {
  const key = await signingKey('the-key');
  await withSupabase(publishing([key.published]).behave, async (api) => {
    for (const path of ['/sounds', '/home', '/me', '/categories']) {
      await api
        .get(path)
        .auth(await key.sign({ is_anonymous: true }), bearer)
        .expect(401);
    }
    await api
      .get('/categories')
      .auth(await key.sign({ is_anonymous: false }), bearer)
      .expect(200);
  });
});

test('keeps tokens valid for an hour while Auth, which publishes the keys, is away', async () => {
  const [known, unknown] = [await signingKey('known'), await signingKey('unknown')];
  const { behave } = publishing([known.published]);
  const auth = { isAway: false };
  const withOutage: RequestListener = (req, res) =>
    auth.isAway && req.url?.includes('/auth/') ? res.writeHead(503).end() : behave(req, res);
  await withSupabase(withOutage, (api) =>
    withClock(async (wait) => {
      const status = async (token: string) => (await api.get('/sounds').auth(token, bearer)).status;
      const tokens = await Promise.all([1, 2, 3].map((session_id) => known.sign({ session_id })));
      const [first = '', second = '', third = ''] = tokens;
      const foreign = await unknown.sign();
      expect(await status(first)).toBe(200);
      auth.isAway = true;
      wait(11 * 60_000);
      expect(await status(second)).toBe(200);
      expect(await status(foreign)).toBe(500); // it may be signed with a new key
      wait(48 * 60_000);
      expect(await status(third)).toBe(200);
    }),
  );
});
