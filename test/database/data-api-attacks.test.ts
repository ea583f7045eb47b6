import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { addSound, addSounds } from '../support/catalogue.ts';
import { forge } from '../support/forge.ts';
import { rest } from '../support/rest.ts';
import { test } from '../support/test.ts';

// Attacks the data API directly, with the access token and the publishable key that every user of the app has.
// supabase/tests contains the same attacks in SQL.

test('users, anon and the service can access only the exposed schema', async ({ user }) => {
  for (const caller of [user.access_token, null, 'service'])
    for (const schema of ['private', 'admin', 'auth', 'storage']) {
      const headers = { 'Accept-Profile': schema, 'Content-Profile': schema };
      expect((await rest(caller, 'GET', 'api_keys', undefined, headers)).status, schema).toBe(406);
      expect((await rest(caller, 'POST', 'rpc/create_api_key', {}, headers)).status, schema).toBe(406);
    }
});

test('a token that Auth issued to another app reaches nothing of its user', async ({ app, user, sql, skip }) => {
  const { id: sub } = user.user;
  await app.post('/favorites').send({ sound_id: await addSound(sql) });
  const { session_id } = decodeJwt(user.access_token);
  const claims = {
    sub,
    session_id,
    aud: 'authenticated',
    role: 'authenticated',
    exp: Math.floor(Date.now() / 1000) + 600,
  };
  const token = await forge(skip, { ...claims, client_id: randomUUID(), scope: 'email' });
  for (const name of `export_account get_customer list_favorites list_history list_sessions end_sessions list_progress
    list_lists clear_history`.split(/\s+/))
    expect((await rest(token, 'POST', `rpc/${name}`, {})).status, name).toBe(401);
  expect((await rest(token, 'POST', 'rpc/save_progress', { entries: [] })).status).toBe(401);
  expect((await rest(token, 'POST', 'rpc/save_lists', { lists: [] })).status).toBe(401);
  for (const table of ['customers', 'favorites', 'history', 'lists', 'progress']) {
    expect(await rest(await forge(skip, claims), 'GET', table), table).toMatchObject({ status: 200 });
    expect(await rest(token, 'GET', table), table).toEqual({ status: 200, body: [] });
  }
  expect((await rest(token, 'POST', 'favorites', { sound_id: await addSound(sql) })).status).toBe(403);
  expect(await rest(token, 'PATCH', `customers?id=eq.${sub}`, { full_name: 'Mallory' })).toMatchObject({ body: [] });
  expect((await rest(token, 'DELETE', `favorites?user_id=eq.${sub}`)).body).toEqual([]);
  expect((await app.get('/favorites')).body.data).toHaveLength(1);
});

test('values of several megabytes are rejected or ignored', async ({ sql, user: { access_token: token } }) => {
  const megabytes = '%'.repeat(2_000_000);
  await addSounds(
    sql,
    Array.from({ length: 500 }, () => ({ title: `${'%'.repeat(99)} ${randomUUID()}` })),
  );
  const longCursor = Buffer.from(JSON.stringify(['title', megabytes, '2026-01-01Z'])).toString('hex');
  const manyIds = Array.from({ length: 50_000 }, () => randomUUID());
  const list = { id: randomUUID(), name: 'Night', is_mix: false, items: [], version: 0 };
  const tooManyIds = { text: `{${manyIds}}`, nested: [manyIds], object: { ids: manyIds } };
  for (const [name, args, expected] of [
    ...Object.values(tooManyIds).map((ids) => ['list_sounds', { filters: JSON.stringify({ ids }) }, 400] as const),
    ['list_sounds', { filters: JSON.stringify({ ids: manyIds }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ tag: `{${manyIds}}` }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ tag: [manyIds] }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ search: megabytes }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ category: megabytes, include_children: true }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ q: megabytes }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ tag: [megabytes] }) }, 200],
    ['list_sounds', { filters: JSON.stringify({ sort: 'title', cursor: longCursor }) }, 400],
    ['list_sounds', { filters: megabytes }, 400],
    ['list_catalogue_changes', { filters: JSON.stringify({ since: megabytes }) }, 200],
    ['list_sound_files', { wanted: JSON.stringify({ ids: [megabytes] }) }, 400],
    ['save_progress', { entries: [{ sound_id: megabytes }] }, 400],
    ['save_lists', { lists: [{ ...list, items: manyIds.map((sound_id) => ({ sound_id, volume: null })) }] }, 400],
    ['save_lists', { lists: [{ ...list, name: megabytes }] }, 400],
    ['update_customer', { changes: { full_name: megabytes } }, 400],
    ['update_customer', { changes: { avatar_url: `https://${megabytes}` } }, 400],
    ['update_customer', { changes: { phone: `+${'1'.repeat(2_000_000)}` } }, 400],
    ['update_customer', { changes: { locale: megabytes } }, 400],
    ['update_customer', { changes: { country: megabytes } }, 400],
  ] as const) {
    // Work that is quadratic in two million characters would exceed every timeout.
    const { status } = await rest(token, 'POST', `rpc/${name}`, args);
    expect(status, `${name} ${Object.keys(args)}`).toBe(expected);
  }
});
