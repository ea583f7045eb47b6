import createClient, { type Middleware } from 'openapi-fetch';
import { describe, expect } from 'vitest';
import type { paths } from '../client/src/document.types.ts';
import { addCategory, addSounds } from './support/catalogue.ts';
import { newEmail, password, test } from './support/test.ts';

/** Sends the current access token with every request, as docs/apps.md asks apps to. */
function withTokens(session: { access_token: string }): Middleware {
  return {
    onRequest: ({ request }) => {
      request.headers.set('Authorization', `Bearer ${session.access_token}`);
      return request;
    },
  };
}

// No casts here: the OpenAPI document alone must be enough for a typed client.
describe('a client generated from openapi.json', () => {
  test('signs up, refreshes, pages, favorites and plays', async ({ gateway, sql }) => {
    const category = await addCategory(sql);
    const ids = await addSounds(sql, [{ category }, { category }, { category }]);
    const client = createClient<paths>({ baseUrl: gateway.url });

    const signedUp = await client.POST('/auth/signup', { body: { email: newEmail(), password } });
    const { access_token, refresh_token } = signedUp.data?.data ?? {};
    if (!access_token || !refresh_token) throw new Error('An account without a session.');
    const session = { access_token, refresh_token };
    client.use(withTokens(session));

    const refreshed = await client.POST('/auth/refresh', { body: { refresh_token } });
    if (!refreshed.data) throw new Error(refreshed.error.error.message);
    Object.assign(session, refreshed.data.data);
    expect(session.refresh_token).not.toBe(refresh_token);

    const readIds: string[] = [];
    let cursor: string | null | undefined;
    do {
      const query = { category, limit: 2, ...(cursor && { cursor }) };
      const { data: page } = await client.GET('/sounds', { params: { query } });
      readIds.push(...(page?.data.map(({ id }) => id) ?? []));
      cursor = page?.next_cursor;
    } while (cursor);
    expect(readIds.toSorted()).toEqual(ids.toSorted());

    const id = readIds[0] ?? '';
    expect((await client.POST('/favorites', { body: { sound_id: id } })).data?.data.ok).toBe(true);
    const favorites = await client.GET('/favorites');
    expect(favorites.data?.data.map(({ sound_id, sounds }) => [sound_id, sounds?.id])).toEqual([[id, id]]);
    await client.DELETE('/favorites/{soundId}', { params: { path: { soundId: id } } });
    expect((await client.GET('/favorites')).data?.data).toEqual([]);

    const detail = await client.GET('/sounds/{id}', { params: { path: { id } } });
    expect(detail.data?.data.audio_url_expires_in).toBe(300);
    const played = await client.POST('/sounds/{id}/play', { params: { path: { id } } });
    expect(played.data?.data).toEqual({ id, play_count: 1 });
  });

  test('gets errors with documented codes', async ({ gateway }) => {
    const client = createClient<paths>({ baseUrl: gateway.url });
    const { error, response } = await client.GET('/me');
    const code: 'unauthorized' | undefined =
      error?.error.code === 'unauthorized' ? error.error.code : undefined;
    expect([response.status, code]).toEqual([401, 'unauthorized']);
  });
});
