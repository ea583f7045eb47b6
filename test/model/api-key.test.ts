import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { inOnePacket, reject, tally, times } from '../limits/bursts.ts';
import { apiAt, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { clientWith, issueKey, signUp, test } from '../support/test.ts';
import { unissuedKey } from './unissued-key.ts';

describe('an API key', () => {
  test('acts as its owner until it is revoked, without updating last_seen_at', async ({ api, gateway, sql }) => {
    const owner = await signUp(api);
    const key = await issueKey(sql, owner);
    const partner = clientWith(gateway, key);
    const sound_id = await addSound(sql);
    const { id } = owner.user;
    expect((await partner.get('/me')).body).toMatchObject({ data: { id }, auth_via: 'api_key' });
    await partner.post('/favorites').send({ sound_id }).expect(201);
    expect((await partner.get('/favorites')).body.data).toMatchObject([{ sound_id }]);
    // Calls with the key do not count as visits of the owner.
    expect((await partner.get('/me/customer')).body).toMatchObject({
      data: { id, last_seen_at: null },
      auth_via: 'api_key',
    });
    const { body } = await partner.post('/auth/signout').expect(401);
    expect(body.error.message).toMatch(/^An API key has no session/);
    await api.post('/auth/refresh').send({ refresh_token: owner.refresh_token }).expect(200);

    await sql`select admin.revoke_api_key(${key.slice(0, 16)})`; // takes effect with the next request
    for (const path of ['/home', '/me', '/sounds?limit=0']) await partner.get(path).expect(401);
  });

  test('a valid API key never counts as rejected, even if its request is aborted', async ({ sql, user }) => {
    const gateway = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4' });
    const key = await issueKey(sql, user);
    const partner = clientWith(gateway, key);
    await partner.get('/me').expect(200);
    const headers = { Authorization: `Bearer ${key}` };
    for (let count = 0; count < 8; count++) {
      const leaving = AbortSignal.timeout(1);
      await fetch(`${gateway.url}/favorites`, { headers, signal: leaving }).catch(() => 'gone');
    }
    await Promise.all(Array.from({ length: 12 }, () => partner.get('/me').expect(200)));
    await gateway.close();
  });

  test('a mistyped or unsuitable key is rejected without a call to the database', async ({ sql, user }) => {
    const key = await issueKey(sql, user);
    const changed = key.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    // Use a gateway without a database, so that a call would result in 500.
    const gateway = await startGateway({ SUPABASE_URL: 'http://127.0.0.1:9' });
    for (const wrong of [changed, key.slice(0, -1), `${key}0`, 'sk_live_', key.replace('_live_', '_LIVE_')]) {
      const { status, headers } = await clientWith(gateway, wrong).get('/home');
      expect(status, wrong).toBe(401);
      expect(headers['www-authenticate']).toContain('error="invalid_token"');
    }
    await clientWith(gateway, key).post('/auth/signout').expect(401); // does not accept API keys
    await clientWith(gateway, key).get('/home').expect(500);
    await gateway.close();
  });
});

describe('an API key with a scope', () => {
  const insufficient = 'Bearer realm="sounds", error="insufficient_scope"';

  test('gets 401 key_scope beyond its scope, which names both scopes', async ({ gateway, sql, user }) => {
    const reader = clientWith(gateway, await issueKey(sql, user, 'read'));
    const site = clientWith(gateway, await issueKey(sql, user, 'catalogue'));
    const sound_id = await addSound(sql);
    await reader.get('/favorites').expect(200);
    await reader
      .post('/sounds/files')
      .send({ ids: [sound_id] })
      .expect(200);
    await site.get(`/sounds/${sound_id}`).expect(200);
    const beyond = [
      [reader.post('/favorites').send({ sound_id }), 'read', 'all'],
      [reader.post(`/sounds/${sound_id}/play`), 'read', 'all'],
      [site.get('/favorites'), 'catalogue', 'read'], // passed on as bytes
      [site.get('/me'), 'catalogue', 'read'],
      [site.patch('/me/customer').send({ full_name: 'x' }), 'catalogue', 'all'],
    ] as const;
    for (const [request, scope, needed] of beyond) {
      const { body } = await request
        .expect(401)
        .expect('WWW-Authenticate', insufficient)
        .expect('X-Error-Reason', 'key_scope');
      const message = `This API key has the scope "${scope}". The request takes a key with the scope "${needed}".`;
      expect(body).toEqual({ error: { code: 'unauthorized', message } });
    }
    const { id } = user.user;
    expect(await sql`select from public.favorites where user_id = ${id}`).toEqual([]);
    expect(await sql`select from public.history where user_id = ${id}`).toEqual([]);
  });

  test('gets 400 for a malformed request', async ({ gateway, sql, user }) => {
    const site = clientWith(gateway, await issueKey(sql, user, 'catalogue'));
    await site.get('/sounds?limit=0').expect(400);
  });

  test('does not make the next request on its connection read-only', async ({ gateway, sql, user }) => {
    const reader = clientWith(gateway, await issueKey(sql, user, 'read'));
    const writer = clientWith(gateway, await issueKey(sql, user));
    const sound_id = await addSound(sql);
    for (let turn = 0; turn < 5; turn++) {
      await reader.get('/favorites').expect(200);
      await writer.post('/favorites').send({ sound_id }).expect(201);
    }
  });
});

describe('the limit of unknown API keys', () => {
  test.for([
    ['rejects', 400, 'PT401', 401],
    ['fails', 500, 'XX000', 500],
  ] as const)(
    'lets only 20 of 100 made-up keys in one packet reach a database that %s them',
    async ([, status, code, expected]) => {
      let calls = 0;
      await withSupabase(
        (_req, res) => {
          calls++;
          reject(res, status, code);
        },
        async (api, { port }) => {
          const request = 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ';
          const requests = Array.from({ length: 100 }, (_, n) => `${request}${unissuedKey(n)}\r\n\r\n`);
          expect(tally(await inOnePacket(port, requests))).toEqual({ [expected]: 20, 429: 80 });
          expect(calls).toBe(20);
          const rejected = await api.get('/me').auth(unissuedKey(200), bearer).expect(429);
          expect(rejected.get('X-RateLimit-Limit')).toBe('20');
          expect(rejected.get('X-Error-Reason')).toBe('limit_requests');
        },
        { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '20' },
      );
    },
  );

  test('a valid key works at once after an outage in which it was sent beyond the limit', async () => {
    let isDown = true;
    await withSupabase(
      (_req, res) => (isDown ? reject(res, 503, 'PGRST000') : res.writeHead(200).end('[]')),
      async (api) => {
        const favorites = () => api.get('/favorites').auth(unissuedKey(0), bearer);
        for (let sent = 0; sent < 6; sent++) await favorites().expect(500);
        isDown = false;
        await favorites().expect(200);
      },
      { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4' },
    );
  });

  test('unknown API keys count toward their limit on every path', async () => {
    const gateway = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: '8' });
    const api = apiAt(gateway.url);
    const calls = [
      () => api.get('/nope').expect(404),
      () => api.put('/sounds').expect(405),
      () => api.options('/sounds').expect(204),
      () => api.post('/auth/signout').expect(401),
    ];
    let number = 0;
    for (const call of [...calls, ...calls]) await call().auth(unissuedKey(number++), bearer);
    await api.get('/sounds').auth(unissuedKey(number), bearer).expect(429);
    await gateway.close();
  });

  test('a key that the database recognises is not unknown, even if its requests are rejected', async ({
    sql,
    user,
  }) => {
    const gateway = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' });
    for (const [path, status] of [
      ['/favorites', 401], // beyond the scope
      [`/sounds/${randomUUID()}`, 404],
      ['/sounds?limit=0', 400],
    ] as const) {
      const site = clientWith(gateway, await issueKey(sql, user, 'catalogue'));
      await site.get(path).expect(status);
      await site.get('/categories').expect(200);
    }
    await gateway.close();
  });

  test('requests of one new key beyond its limit do not stop other new keys of its client', async ({ api, sql }) => {
    const gateway = await startGateway({ API_KEY_RATE_LIMIT_PER_MINUTE: '2', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4' });
    const owner = await signUp(api);
    const [busy, other] = [await issueKey(sql, owner), await issueKey(sql, owner)];
    const statuses = await times(
      8,
      async () => (await clientWith(gateway, busy).get(`/sounds/${randomUUID()}`)).status,
    );
    expect(tally(statuses)).toEqual({ 404: 2, 429: 6 });
    await clientWith(gateway, other).get('/me').expect(200);
    await gateway.close();
  });

  test('a client that tried too many keys can only use keys that are known to be active', async ({ api, sql }) => {
    const gateway = await startGateway({
      API_KEY_RATE_LIMIT_PER_MINUTE: '3',
      RATE_LIMIT_PER_MINUTE: '50',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4',
    });
    const owner = await signUp(api);
    const key = await issueKey(sql, owner);
    const limitsOf = async (credential: string) => {
      const { status, headers } = await clientWith(gateway, credential).get('/me');
      return [status, Number(headers['x-ratelimit-limit']), Number(headers['x-ratelimit-remaining'])];
    };
    expect(await limitsOf(key)).toEqual([200, 3, 2]);
    expect(await limitsOf(owner.access_token)).toEqual([200, 50, 49]);
    for (let tried = 0; tried < 4; tried++) expect(await limitsOf(unissuedKey(tried))).toEqual([401, 3, 2]);
    // Now every new key from that address is rejected, with the headers of its limit.
    expect(await limitsOf(unissuedKey(4))).toEqual([429, 4, 0]);
    expect(await limitsOf(await issueKey(sql, owner))).toEqual([429, 4, 0]);
    await apiAt(gateway.url).get('/categories').expect(200).expect('X-RateLimit-Remaining', '3');
    expect(await limitsOf(key)).toEqual([200, 3, 1]);
    expect(await limitsOf(key)).toEqual([200, 3, 0]);
    expect(await limitsOf(key)).toEqual([429, 3, 0]); // the separate limit of the key
    await gateway.close();
  });
});
