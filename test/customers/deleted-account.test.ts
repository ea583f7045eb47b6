import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect, inject } from 'vitest';
import { bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { rest } from '../support/rest.ts';
import { newEmail, password, type Session, type Sql, signUp, test } from '../support/test.ts';
import { removeCustomer } from './remove-customer.ts';

const { apiUrl, publishableKey, secretKey } = inject('stack');

/** Calls Auth itself. */
async function auth(method: string, path: string, body?: object, key = publishableKey) {
  const response = await fetch(`${apiUrl}/auth/v1${path}`, {
    method,
    headers: { apikey: key, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Session };
}

const deleteAccount = (id: string) => auth('DELETE', `/admin/users/${id}`, undefined, secretKey);

/** The tables of all schemas in which a row contains one of the texts. */
async function tablesNaming(sql: Sql, texts: string[]): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace as schema on schema.oid = relnamespace
    where relkind = 'r' and nspname !~ '^pg_|^information_schema$'
      and has_table_privilege(pg_class.oid, 'select') and has_schema_privilege(schema.oid, 'usage')`;
  const found = [];
  for (const { name } of tables) {
    const patterns = texts.map((text) => `%${text}%`);
    const rows = await sql
      .unsafe(`select from ${name} as entry where entry::text ilike any ($1) limit 1`, [patterns])
      .catch((error: { code: string }) => {
        if (error.code !== '42P01') throw error;
        return []; // a test of another file has dropped its own table meanwhile
      });
    if (rows.length > 0) found.push(name);
  }
  return found.sort();
}

describe('an account that Auth has deleted', () => {
  test('no table names a deleted account, and its plays stay counted', async ({ sql }) => {
    const [email, name] = [newEmail(), `Ada ${randomUUID()}`];
    const phone = `+49${randomInt(10 ** 10, 10 ** 11)}`;
    const credentials = { email, password };
    const signedUp = await auth('POST', '/signup', { ...credentials, data: { full_name: name } });
    const { id } = signedUp.body.user;
    const { access_token, refresh_token } = (await auth('POST', '/token?grant_type=password', credentials))
      .body;
    await auth('POST', '/recover', { email });
    expect((await auth('POST', '/token?grant_type=refresh_token', { refresh_token })).status).toBe(200);
    const sound = await addSound(sql);
    await rest(access_token, 'POST', 'rpc/add_favorite', { liked_sound: sound });
    await rest(access_token, 'POST', 'rpc/update_customer', { changes: { phone, country: 'DE' } });
    await rest(access_token, 'POST', 'rpc/touch_last_seen', {});
    const play = { played_sound: sound, player: id, idempotency_key: randomUUID() };
    await rest('service', 'POST', 'rpc/count_play', play);
    await sql`select admin.create_api_key(${`Key of ${name}`}, ${email})`;

    const traces = [id, email, name, phone];
    expect(await tablesNaming(sql, traces)).toEqual(
      expect.arrayContaining([
        'auth.identities',
        'auth.refresh_tokens',
        'auth.sessions',
        'auth.users',
        'private.api_keys',
        'public.customers',
        'public.favorites',
        'public.history',
        'private.listening_days',
        'private.play_receipts',
      ]),
    );
    expect((await deleteAccount(id)).status).toBe(200);
    expect(await tablesNaming(sql, traces)).toEqual([]);
    expect(await sql`select plays from public.play_counts where sound_id = ${sound}`).toEqual([
      { plays: '1' },
    ]);

    expect((await auth('POST', '/token?grant_type=password', credentials)).status).toBe(400);
    expect((await auth('POST', '/token?grant_type=refresh_token', { refresh_token })).status).toBe(400);
    // The address is free again, for an account that has nothing of the old one.
    const again = (await auth('POST', '/signup', credentials)).body;
    expect(again.user.id).not.toBe(id);
    expect((await rest(again.access_token, 'POST', 'rpc/list_favorites', {})).body).toEqual([]);
  });

  test('gets 401 from the data API for its own data, and no account is touched', async ({ api, sql }) => {
    const { user, access_token: token } = await signUp(api);
    const sound = await addSound(sql);
    await deleteAccount(user.id);
    for (const [name, args] of [
      ['get_customer', {}],
      ['update_customer', { changes: { full_name: 'Ghost' } }],
      ['list_favorites', {}],
      ['add_favorite', { liked_sound: sound }],
      ['remove_favorite', { disliked_sound: sound }],
      ['list_history', {}],
      ['clear_history', {}],
      ['remove_from_history', { forgotten_sound: sound }],
      ['export_account', {}],
    ] as const) {
      const { status, body } = await rest<{ code: string }>(token, 'POST', `rpc/${name}`, args);
      expect([name, status, body.code]).toEqual([name, 401, 'PT401']);
    }
    // last_seen_at is written after the response, so a failure is not reported to the client.
    expect((await rest(token, 'POST', 'rpc/touch_last_seen', {})).status).toBe(200);
    expect(await sql`select from public.favorites where sound_id = ${sound}`).toHaveLength(0);
  });

  test('gets 401 from the service for its own data', async ({ api, sql }) => {
    const { user, access_token: token } = await signUp(api);
    const sound_id = await addSound(sql);
    await deleteAccount(user.id);
    for (const call of [
      api.get('/me'),
      api.get('/me/customer'),
      api.patch('/me/customer').send({ full_name: 'Ghost' }),
      api.get('/favorites'),
      api.post('/favorites').send({ sound_id }),
      api.delete(`/favorites/${sound_id}`),
      api.post(`/sounds/${sound_id}/play`),
      api
        .post('/plays')
        .send({ plays: [{ id: randomUUID(), sound_id, played_at: new Date().toISOString() }] }),
      api.get('/history'),
      api.delete('/history'),
      api.delete(`/history/${sound_id}`),
      api.get('/me/export'),
    ]) {
      await call.auth(token, bearer).expect(401);
    }
  });
});

test('a living account without a customer record is not taken for a deleted one', async ({ api, sql }) => {
  const { user, access_token: token } = await signUp(api);
  await removeCustomer(sql, user.id);
  const record = await rest(token, 'POST', 'rpc/get_customer', {});
  expect([record.status, record.body]).toEqual([200, null]);
  const favorites = await rest(token, 'POST', 'rpc/list_favorites', {});
  expect([favorites.status, favorites.body]).toEqual([200, []]);
});
