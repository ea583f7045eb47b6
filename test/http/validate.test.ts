import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Response } from 'supertest';
import { expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { apiAt, bearer } from '../support/api.ts';
import { addCategory, addSound, addSounds } from '../support/catalogue.ts';
import { newUser, test } from '../support/test.ts';

// test/contract tests invalid values of every field.

test('a body that is not a JSON object gets 400 without the message of the parser', async ({ api }) => {
  const account = '{"email":"a@example.com","password":"secret"}';
  const json = { 'Content-Type': 'application/json' };
  const note = `,"note":"${'x'.repeat(17_000)}"}`;
  const long = [account.replace('}', note), '['.repeat(5000) + ']'.repeat(5000)];
  const texts = ['{"email":', ' ', '[]', '"text"', 'null', '{"email":"\ud800"}', ...long];
  for (const [body, headers] of [
    ...texts.map((text) => [text, json] as const),
    [account, { 'Content-Type': 'text/plain' }],
    [account, { 'Content-Type': '' }],
    ['{}', { 'Content-Type': 'application/json; charset=klingon' }],
    ['{}', { ...json, 'Content-Encoding': 'zip' }],
    ['{}', { ...json, 'Content-Encoding': 'gzip' }],
  ] as const) {
    const answer = await api.post('/auth/signin').send(body).set(headers);
    expect([answer.status, body, headers]).toEqual([400, body, headers]);
    expect(answer.body.error.message).not.toMatch(/unexpected|position|stack|zod/i);
  }
});

test('a value in place of an object gets 400 with what is expected', async ({ api, app }) => {
  const object = 'Send a JSON object with the header Content-Type: application/json.';
  for (const text of ['null', '5', '"text"', '[]']) {
    const { body } = await api.post('/auth/signin').type('json').send(text).expect(400);
    expect([text, body.error.message]).toEqual([text, object]);
  }
  const item = { id: randomUUID(), name: 'Night', is_mix: true, version: 0, items: [null] };
  for (const [path, sent, message] of [
    ['/lists', { lists: ['x'] }, 'lists.0: must be an object.'],
    ['/lists', { lists: [item] }, 'lists.0.items.0: must be an object.'],
    ['/progress', { entries: [5] }, 'entries.0: must be an object.'],
    ['/plays', { plays: [null] }, 'plays.0: must be an object.'],
  ] as const) {
    const { body } = await (path === '/plays' ? app.post(path) : app.put(path)).send(sent).expect(400);
    expect(body.error.message).toBe(message);
  }
});

test('text that is not UTF-8 gets 400 in a body and in a query', async ({ api, app }) => {
  const inLatin1 = Buffer.from('{"email":"a@example.com","password":"passw\xe9rt1"}', 'latin1');
  const send = api
    .post('/auth/signin')
    .type('json')
    .serialize((bytes) => bytes);
  const { body } = await send.send(inLatin1).expect(400);
  expect(body.error.message).toBe('The body is not valid UTF-8.');
  for (const query of ['search=caf%E9', 'q=%C3%28', 'tag=rain&tag=%FF', 'x%E9=1', 'q=%ED%A0%80'])
    await app.get(`/sounds?${query}`).expect(400).expect('X-Error-Reason', 'validation');
  await app.get('/sounds?search=caf%C3%A9%').expect(200);
});

test('faults of the address, the method and the size of a body have reasons of their own', async ({ api, app }) => {
  const reasonOf = async (answer: PromiseLike<Response>) => (await answer).headers['x-error-reason'];
  const id = randomUUID();
  expect({
    path: await reasonOf(app.get('/nope')),
    method: await reasonOf(app.put('/sounds')),
    body: await reasonOf(app.post('/plays').send({ plays: [], note: 'x'.repeat(33_000) })),
    sounds: await Promise.all([
      ...[`/sounds/${id}`, '/sounds/1'].map((path) => reasonOf(app.get(path))),
      reasonOf(app.post('/sounds/1/play')),
      reasonOf(app.post('/favorites').send({ sound_id: id })),
      ...['/favorites/1', '/history/1'].map((path) => reasonOf(app.delete(path))),
    ]),
    sessions: await Promise.all([`/me/sessions/${id}`, '/me/sessions/1'].map((path) => reasonOf(app.delete(path)))),
  }).toEqual({
    path: 'no_such_path',
    method: 'no_such_method',
    body: 'too_large',
    sounds: Array(6).fill('no_such_sound'),
    sessions: Array(2).fill('no_such_session'),
  });
  const { body } = await api.delete('/favorites/1').auth('x', bearer).expect(401);
  expect(body.error.code).toBe('unauthorized');
  expect((await app.get('/sounds/1')).body.error.message).toBe('There is no such path.');
});

test('X-Service-Time is the time at which the request arrived, in milliseconds', async ({ api }) => {
  const sentMs = Date.now();
  const { headers } = await api.get('/categories');
  expect(Number(headers['x-service-time'])).toBeGreaterThanOrEqual(sentMs);
  expect(Number(headers['x-service-time'])).toBeLessThanOrEqual(Date.now());
});

test('a JSON body may have every label of UTF-8 and a type that ends in +json', async ({ app }) => {
  for (const [index, type] of [
    'application/json;charset=UTF8',
    'application/json; charset="utf-8"',
    'application/json; charset=unicode-1-1-utf-8',
    'application/json; charset=x-unicode20utf8',
    'application/merge-patch+json; charset=utf8',
  ].entries()) {
    const full_name = `Zoë ${index}`;
    const changed = app.patch('/me/customer').set('Content-Type', type).send(JSON.stringify({ full_name }));
    expect((await changed).body.data, type).toMatchObject({ full_name });
  }
});

test('a body may be compressed as x-gzip, and a charset as its coding is ignored', async ({ gateway, user }) => {
  const codings = { 'x-gzip': gzipSync, 'X-GZIP': gzipSync, 'utf-8': Buffer.from, UTF8: Buffer.from };
  for (const [coding, encode] of Object.entries(codings)) {
    const headers = {
      ...{ 'Content-Type': 'application/json', 'Content-Encoding': coding },
      Authorization: `Bearer ${user.access_token}`,
    };
    const body = encode(JSON.stringify({ full_name: coding }));
    const answer = await fetch(`${gateway.url}/me/customer`, { method: 'PATCH', headers, body });
    expect(await answer.json(), coding).toMatchObject({ data: { full_name: coding } });
  }
});

test('a blank query parameter counts as absent, and values may be printed as other languages do', async ({
  app,
  sql,
}) => {
  const category = await addCategory(sql);
  const [id] = await addSounds(sql, [{ category, is_featured: true }, { category }]);
  const find = async (query: string) => (await app.get(`/sounds?category=${category}&${query}`).expect(200)).body.data;
  const names = 'include_children featured search q tag min_duration max_duration sort ids limit cursor';
  for (const blank of ['', '%20', '+%09', '%C2%A0'])
    expect(await find(names.replace(/\w+/g, (name) => `${name}=${blank}`).replaceAll(' ', '&'))).toHaveLength(2);
  for (const query of ['limit=&limit=1', 'limit=1&limit=', 'tag=&tag=%20&limit=1'])
    expect(await find(query), query).toHaveLength(1);
  for (const path of ['/catalogue/changes?since=', '/history?cursor=&limit=%20']) await app.get(path).expect(200);
  for (const query of ['featured=True', 'featured=TRUE', 'featured=+true', 'limit=1.0&featured=tRue'])
    expect(await find(query), query).toMatchObject([{ id }]);
  for (const limit of ['1.0', '1.000', '+1', '1+']) expect(await find(`limit=${limit}`), limit).toHaveLength(1);
});

test('an endpoint without a body ignores a huge body', async ({ gateway }) => {
  const { app } = await newUser(gateway);
  await app.post('/auth/signout').type('json').send('x'.repeat(1_000_000)).expect(200);
});

test('a query may have brackets after ids and after any other parameter with one value', async ({ app, sql }) => {
  const id = await addSound(sql);
  const other = '00000000-0000-4000-8000-000000000000';
  for (const query of [
    `ids%5B%5D=${id}`,
    `ids[]=${id}&ids[]=${other}`,
    `ids[0]=${id}&ids[1]=${other}`,
    `ids=${id}&ids[]=${other}`,
    `ids[]=${id}&unknown[a]=b`,
  ])
    expect((await app.get(`/sounds?${query}`)).body.data, query).toMatchObject([{ id }]);
  expect((await app.get('/sounds?limit[]=1').expect(200)).body.data).toHaveLength(1);
});

test('a query with other brackets, or an invalid value after 300 parameters, gets 400', async ({ app }) => {
  const wrong = ['ids[a]=1', 'ids[][]=1', 'tag[any]=1', 'min_duration[gt]=1', 'category[=1'];
  for (const query of [...wrong, 'limit[]=1&limit[]=2', `${'a&'.repeat(300)}limit=0`]) {
    const field = /(\w+)[[=]/.exec(query)?.[1] ?? '';
    await app.get(`/sounds?${query}`).expect(400).expect('X-Error-Field', field);
  }
});

test('a query has at most 400 parameters, because each takes time', async ({ app }) => {
  for (const parameter of ['[0]=a', 'tag[1]=a', 'a[', '%f', '']) {
    const query = (count: number) => Array.from({ length: count }, () => parameter).join('&');
    const field = parameter.startsWith('tag') ? 'tag' : undefined;
    expect((await app.get(`/sounds?${query(400)}`)).headers['x-error-field'], parameter).toBe(field);
    const { status, headers } = await app.get(`/sounds?${query(401)}`);
    expect([status, headers['x-error-reason'], headers['x-error-field']]).toEqual([400, 'validation', undefined]);
  }
});

test('a query may contain invalid percent-encoding', async ({ app, sql }) => {
  const id = await addSound(sql, { title: '50% café %f' });
  for (const search of ['50%+caf%c3%A9', '50%25%20caf%C3%A9%20%f', '%C3%A9+%%66'])
    expect((await app.get(`/sounds?search=${search}`)).body.data, search).toMatchObject([{ id }]);
});

test('an unknown address returns 404, with or without a token', async ({ api, app, gateway }) => {
  const odd = ['/SOUNDS', '/../admin', '/%2e%2e', '/sounds%2f', '/%', '/%ff'];
  for (const path of ['', '/', '/nope', '/sounds/a/b', ...odd]) {
    expect((await api.get(path)).status, path).toBe(404);
    expect((await app.get(path)).status, path).toBe(404);
  }
  await api.get('/nope').auth('rubbish', { type: 'bearer' }).expect(404);
  const origin = apiAt(`http://127.0.0.1:${gateway.port}`);
  for (const path of ['/', '/api', '/api/v2/sounds', '/favicon.ico', '/.env']) {
    await origin.get(path).expect(404);
  }
});

test('a valid request id is kept, and an invalid one is replaced', async ({ api }) => {
  const idOf = async (id: string) => (await api.get('/categories').set('X-Request-Id', id)).headers['x-request-id'];
  expect(await idOf('app-7.2:3')).toBe('app-7.2:3');
  for (const odd of ['a b', 'x'.repeat(129), '<script>', 'ü']) expect(await idOf(odd)).not.toBe(odd);
});

test('generated requests get only documented responses below 500', async ({ api, app }) => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const field = fc.constantFrom(...'email password full_name refresh_token id limit __proto__'.split(' '), '');
  const parameter = fc.constantFrom(
    ...'category include_children featured search q since limit cursor x[y]'.split(' '),
  );
  const object = fc.dictionary(field, fc.anything({ maxDepth: 1 })).map(safeJson);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...endpoints),
      text,
      fc.array(fc.tuple(parameter, text), { maxLength: 4 }),
      fc.oneof(fc.json(), object, text),
      fc.boolean(),
      async ({ method, path, guard, body: takesBody }, id, query, body, withToken) => {
        const search = query.map(([name, value]) => `${name}=${escapePart(value)}`).join('&');
        // Send no token if the request could end the session that later requests need.
        const client = withToken && guard !== 'user' ? app : api;
        const request = client[method](`${path.replace(/\{\w+\}/, escapePart(id))}?${search}`);
        if (takesBody) request.type('json').send(body);
        expect((await request).status).toBeLessThan(500);
      },
    ),
    { numRuns: 100 },
  );
});

const safeJson = (value: unknown) =>
  JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? String(item) : item)) ?? '';

/** Percent-encodes each byte, which also results in invalid UTF-8. */
const escapePart = (text: string) =>
  [...Buffer.from(text, 'utf16le')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
