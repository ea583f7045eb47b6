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

  test.for(['ids[a]', 'ids[][]', 'tag[any]', 'min_duration[gt]', 'category[', 'sort[eq]'])(
    'a query rejects %s and names the parameter',
    async (name, { api, user }) => {
      const answer = await api.get(`/sounds?${name}=1`).auth(user.access_token, bearer).expect(400);
      expect(answer.headers['x-error-field']).toBe(name.split('[')[0]);
    },
  );
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
