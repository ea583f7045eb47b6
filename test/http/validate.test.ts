import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { apiAt, bearer } from '../support/api.ts';
import { addSound } from '../support/catalogue.ts';
import { signUp, test } from '../support/test.ts';

describe('a body', () => {
  const json = { 'Content-Type': 'application/json' };
  for (const [what, body, headers] of [
    ['that is not JSON', '{"email":', json],
    ['that is empty', ' ', json],
    ['that is an array', '[]', json],
    ['that is a string', '"text"', json],
    ['that is null', 'null', json],
    [
      'sent as a form',
      'email=a%40example.com&password=secret',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
    ],
    ['sent as text', '{"email":"a@example.com","password":"secret"}', { 'Content-Type': 'text/plain' }],
    ['without a content type', '{"email":"a@example.com","password":"secret"}', { 'Content-Type': '' }],
    ['in an unknown character set', '{}', { 'Content-Type': 'application/json; charset=klingon' }],
    ['with an unknown content encoding', '{}', { ...json, 'Content-Encoding': 'zip' }],
    ['declared as gzip that is not', '{}', { ...json, 'Content-Encoding': 'gzip' }],
    ['of more than 16 KB', JSON.stringify({ email: 'x'.repeat(17_000) }), json],
    ['nested ten thousand deep', '['.repeat(5000) + ']'.repeat(5000), json],
    ['with a lone surrogate', '{"email":"\ud800"}', json],
  ] as const) {
    test(`a body ${what} gets 400 without words of the parser`, async ({ api }) => {
      const answer = await api.post('/auth/signin').send(body).set(headers).expect(400);
      expect(answer.body.error.message).not.toMatch(/unexpected|position|stack|zod/i);
    });
  }

  test.for([
    'application/json; charset=utf8',
    'application/json;charset=UTF8',
    'application/json; charset="utf-8"',
    'application/json; charset=unicode-1-1-utf-8',
    'application/json; charset=x-unicode20utf8',
    'application/vnd.api+json',
    'application/merge-patch+json; charset=utf8',
  ])('reads a body of the type %s', async (type, { api, user }) => {
    const changes = JSON.stringify({ full_name: 'Zoë' });
    const answer = await api
      .patch('/me/customer')
      .auth(user.access_token, bearer)
      .set('Content-Type', type)
      .send(changes);
    expect([answer.status, answer.body.data?.full_name]).toEqual([200, 'Zoë']);
  });

  test('an endpoint without a body ignores a huge one', async ({ api }) => {
    const { access_token: token } = await signUp(api);
    await api.post('/auth/signout').auth(token, bearer).type('json').send('x'.repeat(1_000_000)).expect(200);
  });
});

describe('a query', () => {
  const other = '00000000-0000-4000-8000-000000000000';

  test.for([
    'ids[]=ID',
    'ids%5B%5D=ID',
    `ids[]=ID&ids[]=${other}`,
    `ids[0]=ID&ids[1]=${other}`,
    `ids=ID&ids[]=${other}`,
    'ids[]=ID&unknown[a]=b',
  ])('a query takes %s for a list of ids', async (query, { api, sql, user }) => {
    const id = await addSound(sql);
    const answer = await api.get(`/sounds?${query.replace('ID', id)}`).auth(user.access_token, bearer);
    expect(answer.body.data?.map((sound: { id: string }) => sound.id)).toEqual([id]);
  });

  test('takes one value with brackets for a parameter that is no list', async ({ api, user }) => {
    const get = (query: string) => api.get(`/sounds?${query}`).auth(user.access_token, bearer);
    expect((await get('limit[]=1').expect(200)).body.data).toHaveLength(1);
    await get('limit[]=1&limit[]=2').expect(400).expect('X-Error-Field', 'limit');
  });

  test('rejects a wrong value behind a thousand other parameters', async ({ api, user }) => {
    const answer = api.get(`/sounds?${'a&'.repeat(1000)}limit=0`).auth(user.access_token, bearer);
    await answer.expect(400).expect('X-Error-Field', 'limit');
  });

  test.for(['ids[a]', 'ids[][]', 'tag[any]', 'min_duration[gt]', 'category[', 'sort[eq]'])(
    'a query rejects %s and names the parameter',
    async (name, { api, user }) => {
      const answer = await api.get(`/sounds?${name}=1`).auth(user.access_token, bearer).expect(400);
      expect(answer.headers['x-error-field']).toBe(name.split('[')[0]);
    },
  );
});

const cursorOf = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('hex');
const moment = '2026-01-01T00:00:00Z';

describe('a position or a search', () => {
  test.for([
    [
      'since',
      '/catalogue/changes',
      ['', '%00', '%ff', '1', '-1', 'NaN', '9f86d081', '9f86d081.', '9f86d081.-1'],
    ],
    [
      'since',
      '/catalogue/changes',
      ['9f86d081.1.2.3', '9f86d081.1e3', '9F86D081.1', `9f86d081.${'9'.repeat(19)}`],
    ],
    ['since', '/catalogue/changes', ['9f86d081.٣', 'x'.repeat(5000)]],
    ['q', '/sounds', ['%00', 'rain%00', '%ED%A0%80%00', 'x'.repeat(101), '%F0%9F%8C%8A'.repeat(101)]],
    ['q', '/sounds', ['rain&q=bowl', 'rain&sort=title', `rain&cursor=${moment}`]],
    [
      'cursor',
      '/sounds',
      ['', '%00', '%ff', '0', '-1', 'NaN', '1e400', 'x'.repeat(5000), '2026-02-30T00:00:00Z'],
    ],
    [
      'cursor',
      '/sounds',
      ['1969-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '+275760-09-13T00:00:00Z', 'infinity'],
    ],
    [
      'cursor',
      '/history',
      ['', '%00', '%ff', '0', 'A'.repeat(201), 'AAAA', Buffer.from('x y').toString('base64url')],
    ],
  ] as [string, string, string[]][])(
    '%s of %s is 400 for %j',
    async ([field, path, values], { api, user }) => {
      for (const value of values) {
        const answer = await api.get(`${path}?${field}=${value}`).auth(user.access_token, bearer);
        expect([value, answer.status, answer.headers['x-error-field']]).toEqual([value, 400, field]);
      }
    },
  );

  test.for([
    'ff'.repeat(10),
    '0'.repeat(21),
    '00'.repeat(2000),
    cursorOf('a text, and no list'),
    cursorOf([]),
    cursorOf(['popular', '1']),
    cursorOf(['title', 'Rain', moment]),
    cursorOf(['popular', '-1', moment]),
    cursorOf(['popular', '1.5', moment]),
    cursorOf(['popular', '9'.repeat(19), moment]),
    cursorOf(['popular', '1', 'yesterdays']),
    cursorOf(['popular', '1', '999999-01-01T00:00:00Z']),
    cursorOf(['popular', '\0', moment]),
  ])('GET /sounds?sort=popular is 400 for the cursor %s', async (cursor, { api, user }) => {
    const answer = await api
      .get('/sounds')
      .query({ sort: 'popular', cursor })
      .auth(user.access_token, bearer);
    expect([answer.status, answer.headers['x-error-field']]).toEqual([400, 'cursor']);
  });
});

describe('an address', () => {
  test('an unknown address returns 404, with or without a token', async ({ api, gateway, user }) => {
    for (const path of [
      '',
      '/',
      '/nope',
      '/sounds/a/b',
      '/SOUNDS',
      '/../admin',
      '/%2e%2e',
      '/sounds%2f',
      '/%',
      '/%ff',
    ]) {
      expect((await api.get(path)).status, path).toBe(404);
      expect((await api.get(path).auth(user.access_token, bearer)).status, path).toBe(404);
      expect((await api.get(path).auth('rubbish', bearer)).status, path).toBe(404);
    }
    const origin = apiAt(`http://127.0.0.1:${gateway.port}`);
    for (const path of ['/', '/api', '/api/v2/sounds', '/favicon.ico', '/.env']) {
      await origin.get(path).expect(404);
    }
  });
});

describe('a request id', () => {
  test('a well-formed request id is kept, another one is replaced', async ({ api }) => {
    const idOf = async (id: string) =>
      (await api.get('/categories').set('X-Request-Id', id)).headers['x-request-id'];
    expect(await idOf('app-7.2:3')).toBe('app-7.2:3');
    for (const odd of ['a b', 'x'.repeat(129), '<script>', 'ü']) expect(await idOf(odd)).not.toBe(odd);
  });
});

describe('generated requests', () => {
  test('generated requests get only documented answers below 500', async ({ api, user }) => {
    const endpoint = fc.constantFrom(...endpoints);
    const names = fc.constantFrom(
      'email',
      'password',
      'full_name',
      'refresh_token',
      'id',
      'limit',
      '__proto__',
      '',
    );
    const queryNames = fc.constantFrom(
      'category',
      'include_children',
      'featured',
      'search',
      'q',
      'since',
      'limit',
      'cursor',
      'x[y]',
    );
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        endpoint,
        text,
        fc.array(fc.tuple(queryNames, text), { maxLength: 4 }),
        fc.oneof(
          fc.json(),
          fc.dictionary(names, fc.anything({ maxDepth: 1 })).map((value) => safeJson(value)),
          text,
        ),
        fc.boolean(),
        async ({ method, path, guard, body: takesBody }, id, query, body, withToken) => {
          const search = query.map(([name, value]) => `${name}=${escapePart(value)}`).join('&');
          const request = api[method](`${path.replace(/\{\w+\}/, escapePart(id))}?${search}`);
          // Not for sign-out: that would end the session that later requests need.
          if (withToken && guard !== 'user') request.auth(user.access_token, bearer);
          if (takesBody) request.type('json').send(body);
          expect((await request).status).toBeLessThan(500);
        },
      ),
      { numRuns: 200 },
    );
  });
});

const safeJson = (value: unknown) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item)) ?? '';

/** Percent-encodes byte by byte, which also yields what is not valid UTF-8. */
const escapePart = (text: string) =>
  [...Buffer.from(text, 'utf16le')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
