import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { expect, inject } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { type ProxiedRequest, startNetwork } from '../support/network.ts';
import { newUser, test } from '../support/test.ts';

/** Returns the addresses of the catalogue reads that the requests of a user cause. */
async function readsOf(act: (app: Api) => Promise<void>) {
  const network = await startNetwork(inject('stack').apiUrl, () => undefined);
  const gateway = await startGateway({ SUPABASE_URL: network.url });
  await act((await newUser(gateway)).app);
  await gateway.close();
  const isRead = ({ method, path }: ProxiedRequest) => method === 'GET' && path.startsWith('/rest/v1/rpc/');
  return network.passed.filter(isRead).map(({ path }) => new URL(path, network.url));
}

test('a search finds the given text, also text that PostgREST would treat as a filter', async ({ sql }) => {
  // PostgREST treats these as filters of the result if one is a whole argument, unlike "in" and "fts(x".
  const filterLike = ['eq.1', 'in.(a)', 'is.null', 'not.eq.1', 'fts(english).cat', 'like(all).x'];
  const reads = await readsOf(async (app) => {
    for (const search of filterLike) {
      const category = await addCategory(sql);
      const id = await addSound(sql, { title: `${randomUUID()} ${search}`, category });
      await addSound(sql, { title: randomUUID(), category });
      const { body } = await app.get('/sounds').query({ search, category });
      expect(body, search).toMatchObject({ data: [{ id }] });
      const none = await app.get('/sounds').query({ category: search }).expect(200);
      expect(none.body, search).toEqual({ data: [], next_cursor: null });
    }
  });
  const values = reads.flatMap(({ searchParams }) => [...searchParams.values()]);
  expect(values).toHaveLength(2 * filterLike.length);
  for (const value of values) expect(value).toMatch(/^\{"/);
});

test('a search for 100 characters with all filters has a URL that every proxy accepts', async ({ sql }) => {
  const reads = await readsOf(async (app) => {
    for (const character of ['ก', '🎵', '"', '%']) {
      const search = character.repeat(100 / character.length);
      const category = await addCategory(sql);
      const title = `${search} ${randomUUID()}`;
      for (const sort_order of [1, 2]) await addSound(sql, { title, category, sort_order });
      const filters = { category, search, featured: false, include_children: true, limit: 1 };
      const list = async (query: object) => (await app.get('/sounds').query(query).expect(200)).body;
      const { data, next_cursor: cursor } = await list(filters);
      expect(data).toMatchObject([{ title }]);
      expect(await list({ ...filters, cursor })).toMatchObject({ data: [{ title }], next_cursor: null });
      await list({ ...filters, category: search, cursor });
    }
  });
  expect(Math.max(...reads.map(({ href }) => href.length))).toBeLessThan(4_000);
});

test('no log contains the search terms if an error page in front of Supabase repeats the URL', async () => {
  const search = 'Zanzibar';
  for (const behave of [
    ({ url }, res) => {
      const page = `<h1>Cannot reach ${decodeURIComponent(url ?? '')}</h1>`;
      res.writeHead(502, { 'Content-Type': 'text/html' }).end(page);
    },
    ({ url }, res) => {
      const body = JSON.stringify({ code: 404, message: `Cannot GET ${url}`, path: url });
      res.writeHead(404, { 'Content-Type': 'application/json' }).end(body);
    },
    ({ url }, res) => res.writeHead(308, { Location: `https://example.com${url}` }).end(),
  ] satisfies RequestListener[])
    await withSupabase(behave, async (api, gateway) => {
      const list = api.get('/sounds').query({ search });
      await list.auth(await token(), bearer).expect(500);
      const line = gateway.logged.map((text) => JSON.parse(text)).find(({ level }) => level === 50);
      expect(line.err.message).toMatch(/list_sounds/);
      expect(gateway.logged.join('')).not.toContain(search);
    });
});
