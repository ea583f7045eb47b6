import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { isWellFormedApiKey } from '../src/api-key.ts';
import { addSound } from './support/catalogue.ts';
import { startGateway } from './support/gateway.ts';
import { type Api, apiOf, type Session, type Sql, test } from './support/test.ts';

/** Issues a key as an admin does. */
async function issueKey(sql: Sql, owner: Session, expires_at: string | null = null): Promise<string> {
  const [row] = await sql`
    select api_key from admin.create_api_key('Partner', ${owner.user.email}, ${expires_at}::timestamptz)`;
  return row?.['api_key'];
}

const revoke = (sql: Sql, key: string) => sql`select admin.revoke_api_key(${key})`;

/** A key of the right form that was never issued; another one for each number below 1000. */
function unissuedKey(number = 0): string {
  const body = `sk_live_${'0123456789'.repeat(4)}${String(number).padStart(3, '0')}`;
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let rest = createHash('sha256').update(body).digest().readUIntBE(0, 6);
  let checksum = '';
  for (let place = 0; place < 6; place++) {
    checksum = alphabet.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return body + checksum;
}

describe('an API key', () => {
  test('acts as its owner on every endpoint that takes a bearer token', async ({ api, sql }) => {
    const owner = await api.signUp();
    const token = await issueKey(sql, owner);
    const id = await addSound(sql);
    expect((await api.get('/me', { token })).body).toMatchObject({
      data: { id: owner.user.id },
      auth_via: 'api_key',
    });
    expect((await api.get('/me/customer', { token })).body).toMatchObject({
      data: { id: owner.user.id, last_seen_at: null },
      auth_via: 'api_key',
    });
    const change = { token, body: { full_name: 'By key' } };
    expect((await api.send('PATCH', '/me/customer', change)).body).toMatchObject({
      data: { full_name: 'By key' },
    });
    expect((await api.post('/favorites', { token, body: { sound_id: id } })).status).toBe(201);
    expect((await api.get('/favorites', { token })).body).toMatchObject({ data: [{ sound_id: id }] });
    expect((await api.send('DELETE', `/favorites/${id}`, { token })).status).toBe(200);
    expect(
      (await api.get('/sounds?limit=2&featured=false&search=a&cursor=2030-01-01T00:00:00Z', { token }))
        .status,
    ).toBe(200);
    expect((await api.get(`/sounds/${id}`, { token })).body).toMatchObject({ data: { id } });
    expect((await api.post(`/sounds/${id}/play`, { token })).body).toEqual({ data: { id, play_count: 1 } });
    expect((await api.get('/home', { token })).status).toBe(200);
    expect((await api.get('/categories', { token })).status).toBe(200);
    // The service did all this for the key: the owner was not there.
    expect((await api.get('/me/customer', { token })).body).toMatchObject({ data: { last_seen_at: null } });
  });

  test('sees and changes nothing of anybody else', async ({ api, sql }) => {
    const [owner, other] = [await api.signUp(), await api.signUp()];
    const sound_id = await addSound(sql);
    await api.post('/favorites', { token: other.access_token, body: { sound_id } });
    const token = await issueKey(sql, owner);
    expect((await api.get('/favorites', { token })).body).toEqual({ data: [] });
    await api.send('DELETE', `/favorites/${sound_id}`, { token });
    expect((await api.get('/favorites', { token: other.access_token })).body).toMatchObject({
      data: [{ sound_id }],
    });
  });

  test('cannot sign anybody out', async ({ api, sql }) => {
    const owner = await api.signUp();
    const token = await issueKey(sql, owner);
    const { status, body } = await api.post<{ error: { message: string } }>('/auth/signout', { token });
    expect(status).toBe(401);
    expect(body.error.message).toMatch(/^An API key has no session/);
    const refresh = { body: { refresh_token: owner.refresh_token } };
    expect((await api.post('/auth/refresh', refresh)).status).toBe(200);
  });

  test('that is revoked is refused from the next request on, in every process and on every endpoint', async ({
    api,
    sql,
  }) => {
    const other = await startGateway();
    const token = await issueKey(sql, await api.signUp());
    const statuses = async (path: string) => [
      (await api.get(path, { token })).status,
      (await apiOf(other).get(path, { token })).status,
    ];
    expect(await statuses('/home')).toEqual([200, 200]);
    await revoke(sql, token.slice(0, 16));
    for (const path of ['/home', '/sounds', '/categories', '/me', '/me/customer', '/favorites']) {
      expect(await statuses(path)).toEqual([401, 401]);
    }
    await other.close();
  });

  test('has no more requests a minute than API_KEY_RATE_LIMIT_PER_MINUTE', async ({ api, sql }) => {
    const gateway = await startGateway({ API_KEY_RATE_LIMIT_PER_MINUTE: '2' });
    const token = await issueKey(sql, await api.signUp());
    const statusOf = async () => (await apiOf(gateway).get('/me', { token })).status;
    expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([200, 200, 429]);
    await gateway.close();
  });

  test('is refused when it has expired, was never issued, or its owner is locked out', async ({
    api,
    sql,
  }) => {
    const owner = await api.signUp();
    const [expired, live] = [await issueKey(sql, owner, '2020-01-01'), await issueKey(sql, owner)];
    const statusOf = async (token: string) => (await api.get('/me', { token })).status;
    expect(await statusOf(expired)).toBe(401);
    expect(isWellFormedApiKey(unissuedKey())).toBe(true);
    expect(await statusOf(unissuedKey())).toBe(401);
    expect(await statusOf(live)).toBe(200);
    await sql`update public.customers set is_active = false where id = ${owner.user.id}`;
    expect(await statusOf(live)).toBe(401);
  });

  test('that is mistyped is refused without asking the database', async ({ api, sql }) => {
    const token = await issueKey(sql, await api.signUp());
    expect(isWellFormedApiKey(token)).toBe(true);
    const changed = token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
    // A gateway without a database would answer 500 if it asked.
    const unconnected = await startGateway({ SUPABASE_URL: 'http://127.0.0.1:9' });
    for (const key of [
      changed,
      token.slice(0, -1),
      `${token}0`,
      'sk_live_',
      'sk_live_?',
      token.replace('_live_', '_LIVE_'),
    ]) {
      const { status, headers } = await apiOf(unconnected).get('/home', { token: key });
      expect(status, key).toBe(401);
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
    expect((await apiOf(unconnected).get('/home', { token })).status).toBe(500);
    await unconnected.close();
  });

  test('never appears in the log, valid or not', async ({ api, gateway, sql }) => {
    const keys = [await issueKey(sql, await api.signUp()), unissuedKey(), 'sk_live_mistyped'];
    for (const token of keys) await api.get('/me', { token });
    await expect.poll(() => gateway.logged.length).toBeGreaterThanOrEqual(3);
    for (const key of keys) expect(gateway.logged.join('')).not.toContain(key.slice(0, 16));
  });

  test('has a budget of its own once it has proved valid; until then, and when refused, it counts on its address', async ({
    api,
    sql,
  }) => {
    const gateway = await startGateway({
      API_KEY_RATE_LIMIT_PER_MINUTE: '3',
      RATE_LIMIT_PER_MINUTE: '50',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '4',
    });
    const limited: Api = apiOf(gateway);
    const owner = await api.signUp();
    const token = await issueKey(sql, owner);
    const limitsOf = async (credential: string) => {
      const { status, headers } = await limited.get('/me', { token: credential });
      return [status, Number(headers.get('x-ratelimit-limit')), Number(headers.get('x-ratelimit-remaining'))];
    };
    expect(await limitsOf(token)).toEqual([200, 3, 2]);
    expect(await limitsOf(owner.access_token)).toEqual([200, 50, 49]);
    for (let tried = 0; tried < 4; tried++) expect(await limitsOf(unissuedKey(tried))).toEqual([401, 3, 2]);
    expect(await limitsOf(unissuedKey(4))).toEqual([429, 4, 0]);
    expect(await limitsOf(token)).toEqual([429, 4, 0]); // nor is any other key of that address let through
    const guest = await limited.get('/categories');
    expect([guest.status, Number(guest.headers.get('x-ratelimit-remaining'))]).toEqual([200, 3]);
    await gateway.close();
  });
});
