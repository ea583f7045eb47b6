import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { describe, expect, inject } from 'vitest';
import { token } from '../support/access-token.ts';
import { type Api, apiAt, bearer } from '../support/api.ts';
import { addCategory, addSound } from '../support/catalogue.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { signUp, test } from '../support/test.ts';

// Reads of the catalogue go to the data API by GET, so that a read replica may answer them.

/** Returns the calls to the data API that the requests of `act` cause: methods, and paths with arguments. */
async function callsOf(act: (api: Api) => Promise<unknown>) {
  const network = await startNetwork(inject('stack').apiUrl, () => undefined);
  const gateway = await startGateway({ SUPABASE_URL: network.url });
  await act(apiAt(gateway.url));
  await gateway.close();
  return network.passed
    .filter(({ path }) => path.startsWith('/rest/v1/rpc/'))
    .map(({ method, path }) => ({ method, url: new URL(path, network.url) }));
}

/** Texts that PostgREST takes for a filter of the result where one is a whole argument; "in" and "fts(x" it takes for text. */
const filterLike = [
  'eq.1',
  'in.(a)',
  'is.null',
  'not.eq.1',
  'fts.cat',
  'fts(english).cat',
  'like(all).x',
  'isdistinct.1',
];

describe('the catalogue', () => {
  test('the catalogue is read by GET, personal data and with API keys by POST', async ({ sql }) => {
    const sound = await addSound(sql);
    const calls = await callsOf(async (api) => {
      const { access_token, user } = await signUp(api);
      const [issued] = await sql`select * from admin.create_api_key('Reader', ${user.email})`;
      const paths = ['/categories', '/sounds', `/sounds/${sound}`, '/home', '/favorites', '/me/customer'];
      for (const credential of [access_token, issued?.['api_key']])
        for (const path of [...paths, '/sounds?search=in'])
          await api.get(path).auth(credential, bearer).expect(200);
      await api.post('/favorites').auth(access_token, bearer).send({ sound_id: sound }).expect(201);
      await api.post(`/sounds/${sound}/play`).auth(access_token, bearer).expect(200);
    });
    const namesBy = (method: string) =>
      new Set(
        calls.filter((call) => call.method === method).map(({ url }) => url.pathname.split('/').at(-1)),
      );
    expect(namesBy('GET')).toEqual(
      new Set(['list_categories', 'list_sounds', 'get_sound', 'list_home_sections']),
    );
    expect(namesBy('POST')).toEqual(
      new Set([
        'list_favorites',
        'get_customer',
        'touch_last_seen',
        'as_api_key',
        'add_favorite',
        'count_play',
      ]),
    );
  });

  test('a search finds what was typed, also text that PostgREST would read as a filter', async ({ sql }) => {
    const calls = await callsOf(async (api) => {
      const { access_token } = await signUp(api);
      for (const search of filterLike) {
        const category = await addCategory(sql);
        const id = await addSound(sql, { title: `${randomUUID()} ${search}`, category });
        await addSound(sql, { title: randomUUID(), category });
        const { body } = await api.get('/sounds').query({ search, category }).auth(access_token, bearer);
        expect(body, search).toMatchObject({ data: [{ id }] });
        const none = api.get('/sounds').query({ category: search }).auth(access_token, bearer);
        expect((await none.expect(200)).body, search).toEqual({ data: [], next_cursor: null });
      }
    });
    const values = calls
      .filter(({ method }) => method === 'GET')
      .flatMap(({ url }) => [...url.searchParams.values()]);
    expect(values).toHaveLength(2 * filterLike.length);
    for (const value of values) expect(value).toMatch(/^\{"/);
  });

  test.for([
    ['Thai', 'ก'],
    ['emoji', '🎵'],
    ['quotation marks', '"'],
    ['percent signs', '%'],
  ])(
    'a search for 100 characters of %s with all filters has an address that every proxy accepts',
    async ([, character = ''], { sql }) => {
      const typed = character.repeat(100 / character.length);
      const category = await addCategory(sql);
      const title = `${typed} ${randomUUID()}`;
      const filters = { category, search: typed, featured: false, include_children: true, limit: 1 };
      await addSound(sql, { title, category, sort_order: 1 });
      await addSound(sql, { title, category, sort_order: 2 });
      const calls = await callsOf(async (api) => {
        const { access_token } = await signUp(api);
        const list = async (query: object) =>
          (await api.get('/sounds').query(query).auth(access_token, bearer).expect(200)).body;
        const first = await list(filters);
        expect(first.data).toMatchObject([{ title }]);
        const second = await list({ ...filters, cursor: first.next_cursor });
        expect(second).toMatchObject({ data: [{ title }], next_cursor: null });
        await list({ ...filters, category: typed, cursor: first.next_cursor });
      });
      const lengths = calls.map(({ url }) => url.href.length);
      expect(Math.max(...lengths)).toBeLessThan(4_000);
    },
  );
});

describe('what was searched for is in no log', () => {
  test.for<[string, RequestListener]>([
    [
      'as HTML',
      ({ url }, res) => {
        res
          .writeHead(502, { 'Content-Type': 'text/html' })
          .end(`<h1>Cannot reach ${decodeURIComponent(url ?? '')}</h1>`);
      },
    ],
    [
      'as JSON',
      ({ url }, res) => {
        res.writeHead(404, { 'Content-Type': 'application/json' });
        res.end(JSON.stringify({ code: 404, message: `Cannot GET ${url}`, path: url }));
      },
    ],
    ['in a redirect', ({ url }, res) => res.writeHead(308, { Location: `https://example.com${url}` }).end()],
  ])(
    'no log has the search terms when an error page before Supabase repeats the address %s',
    async ([, behave]) => {
      await withSupabase(behave, async (api, gateway) => {
        const search = 'Zanzibar';
        await api
          .get('/sounds')
          .query({ search })
          .auth(await token(), bearer)
          .expect(500);
        const line = gateway.logged.map((text) => JSON.parse(text)).find(({ level }) => level === 50);
        expect(line.err.message).toMatch(/list_sounds/);
        expect(gateway.logged.join('')).not.toContain(search);
      });
    },
  );
});

test('a catalogue read that got 503 is not repeated, because its deadline would pass first', async () => {
  const seen: (string | undefined)[] = [];
  await withSupabase(
    ({ method }, res) => {
      seen.push(method);
      res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' });
      res.end(JSON.stringify({ code: 'PGRST000', message: 'Database connection error.' }));
    },
    async (api) => {
      await api.get('/categories').expect(500);
    },
  );
  expect(seen).toEqual(['GET']);
});
