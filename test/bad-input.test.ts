import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { endpoints } from '../src/app.ts';
import { readAnswer } from './support/api.ts';
import { newEmail, password, test } from './support/test.ts';

type Refusal = { error: { message: string } };

describe('a body', () => {
  const json = { 'Content-Type': 'application/json' };
  for (const [what, body, headers] of [
    ['that is not JSON', '{"email":', json],
    ['that is empty', '', json],
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
    ['of an unknown character set', '{}', { 'Content-Type': 'application/json; charset=klingon' }],
    ['of an unknown encoding', '{}', { ...json, 'Content-Encoding': 'zip' }],
    ['that only claims to be gzip', '{}', { ...json, 'Content-Encoding': 'gzip' }],
    ['of more than 16 KB', JSON.stringify({ email: 'x'.repeat(17_000) }), json],
    ['nested ten thousand deep', '['.repeat(5000) + ']'.repeat(5000), json],
    ['with bytes that are no UTF-8', '{"email":"\ud800"}', json],
  ] as const) {
    test(`${what} is 400, with a text that says what to do`, async ({ api }) => {
      for (const path of ['/auth/signup', '/auth/signin', '/auth/refresh']) {
        const answer = await api.post<Refusal>(path, { body: body === '' ? ' ' : body, headers });
        expect(answer.status).toBe(400);
        expect(answer.body.error.message).not.toMatch(/unexpected|position|stack|zod/i);
      }
    });
  }

  test('with fields the endpoint does not know is accepted', async ({ api }) => {
    const body = `{"email":"${newEmail()}","password":"${password}","is_admin":true,"__proto__":{"x":1},"constructor":1}`;
    expect((await api.post('/auth/signup', { body })).status).toBe(200);
  });

  test('that is huge, on an endpoint without one, changes nothing', async ({ api }) => {
    const { access_token: token } = await api.signUp();
    const { status } = await api.post('/auth/signout', { token, body: 'x'.repeat(1_000_000) });
    expect(status).toBe(200);
  });
});

describe('an address', () => {
  test('nobody knows is 404, with or without a token', async ({ api, gateway, user }) => {
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
      expect((await api.get(path, { token: user.access_token })).status, path).toBe(404);
      expect((await api.get(path, { token: 'rubbish' })).status, path).toBe(404);
    }
    for (const path of ['/', '/api', '/api/v2/sounds', '/favicon.ico', '/.env']) {
      expect((await readAnswer(await fetch(`http://127.0.0.1:${gateway.port}${path}`))).status).toBe(404);
    }
  });

  test('answers a method it does not have with 405 and Allow', async ({ api, user }) => {
    for (const [method, path, allow] of [
      ['PUT', '/sounds', 'GET, HEAD, OPTIONS'],
      ['POST', '/categories', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/home', 'GET, HEAD, OPTIONS'],
      ['GET', '/auth/signin', 'POST, OPTIONS'],
      ['PATCH', '/sounds/not-even-a-uuid', 'GET, HEAD, OPTIONS'],
      ['QUERY', '/sounds', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const { status, headers } = await api.send(method, path, { token: user.access_token });
      expect(status).toBe(405);
      expect(headers.get('allow')).toBe(allow);
    }
  });

  test('answers OPTIONS with 204 and Allow, HEAD as GET without a body', async ({ api, user }) => {
    const options = await api.send('OPTIONS', '/sounds');
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const head = await api.send('HEAD', '/sounds', { token: user.access_token });
    expect(head.status).toBe(200);
    expect(head.body).toBeUndefined();
    expect((await api.send('HEAD', '/sounds')).status).toBe(401);
  });
});

describe('a request id', () => {
  test('is taken over when well-formed, and made when not', async ({ api }) => {
    const idOf = async (id: string) =>
      (await api.get('/categories', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id');
    expect(await idOf('app-7.2:3')).toBe('app-7.2:3');
    for (const odd of ['a b', 'x'.repeat(129), '<script>', 'ü']) expect(await idOf(odd)).not.toBe(odd);
  });
});

describe('generated requests', () => {
  test('never end in a 5xx, a hang, or an answer outside the documented shapes', async ({ api, user }) => {
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
          // The token is kept out of sign-out: it would end the session that the rest of the run needs.
          const token = withToken && guard !== 'user' ? { token: user.access_token } : {};
          const address = `${path.replace(/\{\w+\}/, escapePart(id))}?${search}`;
          const answer = await api.send(method.toUpperCase(), address, {
            ...token,
            ...(takesBody && { body }),
          });
          expect(answer.status).toBeLessThan(500);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const safeJson = (value: unknown) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item)) ?? '';

/** Percent-encodes byte by byte, so that also what is no Unicode can be sent. */
const escapePart = (text: string) =>
  [...Buffer.from(text, 'utf16le')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
