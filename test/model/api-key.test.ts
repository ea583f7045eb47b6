import { describe, expect } from 'vitest';
import { isWellFormedApiKey } from '../../src/model/api-key.ts';
import { inOnePacket, reject, tally } from '../limits/bursts.ts';
import { apiAt, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { type Session, type Sql, signUp, test } from '../support/test.ts';
import { unissuedKey } from './unissued-key.ts';

/** Issues a key as an admin does. */
async function issueKey(sql: Sql, owner: Session): Promise<string> {
  const [row] = await sql`select api_key from admin.create_api_key('Partner', ${owner.user.email})`;
  return row?.['api_key'];
}

const revoke = (sql: Sql, key: string) => sql`select admin.revoke_api_key(${key})`;

describe('an API key', () => {
  test('acts as its owner on every endpoint that takes a bearer token', async ({ api, sql }) => {
    const owner = await signUp(api);
    const token = await issueKey(sql, owner);
    const id = await addSound(sql);
    expect((await api.get('/me').auth(token, bearer)).body).toMatchObject({
      data: { id: owner.user.id },
      auth_via: 'api_key',
    });
    expect((await api.get('/me/customer').auth(token, bearer)).body).toMatchObject({
      data: { id: owner.user.id, last_seen_at: null },
      auth_via: 'api_key',
    });
    await api.post('/favorites').auth(token, bearer).send({ sound_id: id }).expect(201);
    expect((await api.get('/favorites').auth(token, bearer)).body).toMatchObject({
      data: [{ sound_id: id }],
    });
    // The service did all this for the key: the owner was not there.
    expect((await api.get('/me/customer').auth(token, bearer)).body).toMatchObject({
      data: { last_seen_at: null },
    });
  });

  test('cannot sign anybody out', async ({ api, sql }) => {
    const owner = await signUp(api);
    const token = await issueKey(sql, owner);
    const { body } = await api.post('/auth/signout').auth(token, bearer).expect(401);
    expect(body.error.message).toMatch(/^An API key has no session/);
    await api.post('/auth/refresh').send({ refresh_token: owner.refresh_token }).expect(200);
  });

  test('a revoked API key is rejected from the next request on everywhere', async ({ api, sql }) => {
    const gateway = await startGateway();
    const other = apiAt(gateway.url);
    const token = await issueKey(sql, await signUp(api));
    const statuses = async (path: string) => [
      (await api.get(path).auth(token, bearer)).status,
      (await other.get(path).auth(token, bearer)).status,
    ];
    expect(await statuses('/home')).toEqual([200, 200]);
    await revoke(sql, token.slice(0, 16));
    for (const path of ['/home', '/sounds', '/categories', '/me', '/me/customer', '/favorites']) {
      expect(await statuses(path)).toEqual([401, 401]);
    }
    await gateway.close();
  });

  test('a valid API key never counts as rejected, in flight or aborted', async ({ api, sql }) => {
    const gateway = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4' });
    const limited = apiAt(gateway.url);
    const token = await issueKey(sql, await signUp(api));
    const headers = { Authorization: `Bearer ${token}` };
    await limited.get('/me').auth(token, bearer).expect(200);
    for (let count = 0; count < 8; count++) {
      const leaving = AbortSignal.timeout(1);
      await fetch(`${gateway.url}/favorites`, { headers, signal: leaving }).catch(() => 'gone');
    }
    const answers = Array.from({ length: 12 }, () => limited.get('/me').auth(token, bearer).expect(200));
    await Promise.all(answers);
    await gateway.close();
  });

  test('has no more requests a minute than API_KEY_RATE_LIMIT_PER_MINUTE', async ({ api, sql }) => {
    const gateway = await startGateway({ API_KEY_RATE_LIMIT_PER_MINUTE: '2' });
    const token = await issueKey(sql, await signUp(api));
    for (const status of [200, 200, 429])
      await apiAt(gateway.url).get('/me').auth(token, bearer).expect(status);
    await gateway.close();
  });

  test('rejects a key that expired, was never issued, or whose owner is locked out', async ({ api, sql }) => {
    const owner = await signUp(api);
    const [expired, live] = [await issueKey(sql, owner), await issueKey(sql, owner)];
    await sql`update private.api_keys set expires_at = now() where key_prefix = ${expired.slice(0, 16)}`;
    const statusOf = async (token: string) => (await api.get('/me').auth(token, bearer)).status;
    expect(await statusOf(expired)).toBe(401);
    expect(isWellFormedApiKey(unissuedKey())).toBe(true);
    expect(await statusOf(unissuedKey())).toBe(401);
    expect(await statusOf(live)).toBe(200);
    await sql`update public.customers set is_active = false where id = ${owner.user.id}`;
    expect(await statusOf(live)).toBe(401);
  });

  test('rejects a mistyped or useless key without a call to the database', async ({ api, sql }) => {
    const token = await issueKey(sql, await signUp(api));
    expect(isWellFormedApiKey(token)).toBe(true);
    const changed = token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    // A gateway without a database would answer 500 if it asked.
    const gateway = await startGateway({ SUPABASE_URL: 'http://127.0.0.1:9' });
    const unconnected = apiAt(gateway.url);
    for (const key of [
      changed,
      token.slice(0, -1),
      `${token}0`,
      'sk_live_',
      'sk_live_?',
      token.replace('_live_', '_LIVE_'),
    ]) {
      const { status, headers } = await unconnected.get('/home').auth(key, bearer);
      expect(status, key).toBe(401);
      expect(headers['www-authenticate']).toContain('error="invalid_token"');
    }
    await unconnected.post('/auth/signout').auth(token, bearer).expect(401); // takes no API keys
    await unconnected.get('/home').auth(token, bearer).expect(500);
    await gateway.close();
  });

  test('never appears in the log, valid or not', async ({ api, gateway, sql }) => {
    const keys = [await issueKey(sql, await signUp(api)), unissuedKey(), 'sk_live_mistyped'];
    for (const token of keys) await api.get('/me').auth(token, bearer);
    await expect.poll(() => gateway.logged.length).toBeGreaterThanOrEqual(3);
    for (const key of keys) expect(gateway.logged.join('')).not.toContain(key.slice(0, 16));
  });
});

describe('The limit of unknown API keys', () => {
  const limited = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '20' };
  const key = (n: number) => `Authorization: Bearer ${unissuedKey(n)}\r\n`;

  test.for([
    ['rejects', 400, 'PT401', 401],
    ['fails', 500, 'XX000', 500],
  ] as const)(
    'lets 20 of 100 made-up keys in one packet reach a database that %s them',
    async ([, status, code, expected]) => {
      let calls = 0;
      await withSupabase(
        (_req, res) => {
          calls++;
          reject(res, status, code);
        },
        async (api, { port }) => {
          const requests = Array.from(
            { length: 100 },
            (_, n) => `GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${key(n)}\r\n`,
          );
          expect(tally(await inOnePacket(port, requests))).toEqual({ [expected]: 20, 429: 80 });
          expect(calls).toBe(20);
          const rejected = await api.get('/me').auth(unissuedKey(200), bearer).expect(429);
          expect(rejected.get('X-RateLimit-Limit')).toBe('20');
          expect(rejected.get('X-Error-Reason')).toBe('limit_requests');
        },
        limited,
      );
    },
  );

  test('counts made-up keys on every path', async () => {
    const gateway = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: '8' });
    const limited = apiAt(gateway.url);
    const calls = [
      () => limited.get('/nope').expect(404),
      () => limited.put('/sounds').expect(405),
      () => limited.options('/sounds').expect(204),
      () => limited.post('/auth/signout').expect(401),
    ];
    let number = 0;
    for (const call of [...calls, ...calls]) await call().auth(unissuedKey(number++), bearer);
    await limited.get('/sounds').auth(unissuedKey(number), bearer).expect(429);
    await gateway.close();
  });

  test('a client that tried too many keys may use only those known active', async ({ api, sql }) => {
    const gateway = await startGateway({
      API_KEY_RATE_LIMIT_PER_MINUTE: '3',
      RATE_LIMIT_PER_MINUTE: '50',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4',
    });
    const limited = apiAt(gateway.url);
    const owner = await signUp(api);
    const token = await issueKey(sql, owner);
    const limitsOf = async (credential: string) => {
      const { status, headers } = await limited.get('/me').auth(credential, bearer);
      return [status, Number(headers['x-ratelimit-limit']), Number(headers['x-ratelimit-remaining'])];
    };
    expect(await limitsOf(token)).toEqual([200, 3, 2]);
    expect(await limitsOf(owner.access_token)).toEqual([200, 50, 49]);
    for (let tried = 0; tried < 4; tried++) expect(await limitsOf(unissuedKey(tried))).toEqual([401, 3, 2]);
    // From then on every new key of that address is rejected, with the headers of its limit.
    expect(await limitsOf(unissuedKey(4))).toEqual([429, 4, 0]);
    expect(await limitsOf(await issueKey(sql, owner))).toEqual([429, 4, 0]);
    await limited.get('/categories').expect(200).expect('X-RateLimit-Remaining', '3');
    expect(await limitsOf(token)).toEqual([200, 3, 1]);
    await gateway.close();
  });

  test('does not count a key that is known to be active', async () => {
    await withSupabase(
      (_req, res) => res.writeHead(200, { 'Content-Type': 'application/json' }).end('[]'),
      async (api) => {
        for (let count = 0; count < 25; count++)
          await api.get('/categories').auth(unissuedKey(), bearer).expect(200);
      },
      limited,
    );
  });
});
