import type { RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, vi } from 'vitest';
import { bearer } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { watchLag } from '../support/lag.ts';
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

test('a token of a new signing key is accepted after 5 seconds at most, and made-up keys are not looked up more often', async () => {
  const [old, next, madeUp] = [await signingKey('old'), await signingKey('new'), await signingKey('made-up')];
  const keys = [old.published];
  const { seen, behave } = publishing(keys);
  await withSupabase(behave, async (api) => {
    await api
      .get('/sounds')
      .auth(await old.sign(), bearer)
      .expect(200);
    const lag = watchLag();
    const started = performance.now();
    keys.push(next.published);
    const token = await next.sign();
    await expect.poll(async () => (await api.get('/sounds').auth(token, bearer)).status).toBe(200);
    expect((performance.now() - started) / 1000).toBeLessThan(6 + lag());
    const [before, since] = [seen.fetches, performance.now()];
    for (let count = 0; count < 50; count++) {
      await api
        .get('/sounds')
        .auth(await madeUp.sign({ count }), bearer)
        .expect(401);
    }
    const seconds = (performance.now() - since) / 1000;
    expect(seen.fetches - before).toBeLessThanOrEqual(1 + Math.floor(seconds / 5));
  });
});

describe('a key that the project has withdrawn', () => {
  /** Two keys, a token of each that was accepted, and a gateway whose clock can be put forward. */
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
    await withSupabase(publishing(keys).behave, async (api) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      try {
        await check({
          status: async (token) => (await api.get('/sounds').auth(token, bearer)).status,
          tokens,
          withdraw: () => keys.pop(),
          wait: (ms) => vi.setSystemTime(Date.now() + ms),
          another: () => unknown.sign(),
        });
      } finally {
        vi.useRealTimers();
      }
    });
  }

  test('lets nobody in after ten minutes, however often its tokens were used', async () => {
    await withTwoKeys(async ({ status, tokens: { staying, leaving }, withdraw, wait }) => {
      expect([await status(leaving), await status(staying)]).toEqual([200, 200]);
      withdraw();
      wait(9 * 60_000);
      await status(leaving);
      wait(61_000);
      expect([await status(leaving), await status(staying)]).toEqual([401, 200]);
    });
  });

  test('lets nobody in from the moment that the gateway fetches the key set for another reason', async () => {
    await withTwoKeys(async ({ status, tokens: { staying, leaving }, withdraw, wait, another }) => {
      expect([await status(leaving), await status(staying)]).toEqual([200, 200]);
      withdraw();
      wait(6_000); // a key set is fetched again for an unknown key, but not at once
      expect(await status(await another())).toBe(401);
      expect([await status(leaving), await status(staying)]).toEqual([401, 200]);
    });
  });
});

test('an anonymous user of Supabase is nobody here: 401 on guarded endpoints and on /categories', async () => {
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

test('an Auth that is away signs nobody out: the last key set is good for an hour more', async () => {
  const [known, unknown] = [await signingKey('known'), await signingKey('unknown')];
  const { behave } = publishing([known.published]);
  const auth = { isAway: false };
  const withOutage: RequestListener = (req, res) =>
    auth.isAway && req.url?.includes('/auth/') ? res.writeHead(503).end() : behave(req, res);
  await withSupabase(withOutage, async (api) => {
    const status = async (token: string) => (await api.get('/sounds').auth(token, bearer)).status;
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    try {
      const tokens = await Promise.all([1, 2, 3].map((session_id) => known.sign({ session_id })));
      const [first = '', second = '', third = ''] = tokens;
      const foreign = await unknown.sign();
      expect(await status(first)).toBe(200);
      auth.isAway = true;
      vi.setSystemTime(now + 11 * 60_000); // jose keeps a key set for ten minutes
      expect(await status(second)).toBe(200);
      expect(await status(foreign)).toBe(500); // it may be signed with a new key
      vi.setSystemTime(now + 59 * 60_000);
      expect(await status(third)).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });
});
