import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect, inject } from 'vitest';
import { unissuedKey } from '../model/unissued-key.ts';
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
  // PostgREST reads an argument as a filter of the result if it is one of these, but not if it is "in" or "fts(x".
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

test('no log contains the search terms if a page in front of Supabase repeats the request', async () => {
  const search = 'Zanzibar';
  for (const [status, render] of [
    [502, (request: string) => `<h1>Cannot reach ${request}</h1>`],
    [404, (request: string) => JSON.stringify({ code: 404, message: `Cannot GET ${request}`, path: request })],
    [308, () => ''],
    [200, (request: string) => `<h1>${request}</h1>`],
    [200, (request: string) => `[${request}]`], // begins like JSON
    [200, (request: string) => JSON.stringify({ path: request })],
  ] as const)
    await withSupabase(
      async (req, res) => {
        const request = `${decodeURIComponent(req.url ?? '')} ${await text(req)}`;
        res.writeHead(status, { Location: `https://example.com${req.url}` }).end(render(request));
      },
      async (api, gateway) => {
        for (const credential of [await token(), unissuedKey()])
          await api.get('/sounds').query({ search }).auth(credential, bearer).expect(500);
        const lines = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
        expect(lines).toHaveLength(2);
        for (const { err } of lines) expect(err.message).toMatch(/list_sounds|as_api_key/);
        expect(gateway.logged.join('')).not.toContain(search);
      },
    );
});
