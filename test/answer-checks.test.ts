import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { apiAt, bearer } from './support/api.ts';
import { departures } from './support/document.ts';
import { expectNoSecretIn } from './support/secrets.ts';

// The client of the other tests checks every answer on its own. These tests show that it finds what is wrong.

const headers = {
  'x-request-id': '1',
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1782207060',
};
const category = { id: '1', name: 'Bowls', slug: 'bowls', description: null, sort_order: 1, children: [] };
const envelope = { error: { code: 'unauthorized', message: 'No.' } };
const refusal = { 'www-authenticate': 'Bearer', 'x-error-reason': 'token_invalid' };

/** The client of a server that stands in for a gateway. */
async function apiOf(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return apiAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`);
}

const complete = { ...headers, 'content-type': 'application/json; charset=utf-8' };

test('an answer without a request id, the rate-limit headers or the JSON content type fails its test', async () => {
  for (const name of Object.keys(complete)) {
    const api = await apiOf((_req, res) => {
      const { [name as keyof typeof complete]: _, ...others } = complete;
      res.writeHead(404, others).end(JSON.stringify({ error: { code: 'not_found', message: 'No.' } }));
    });
    await expect(api.get('/nope'), name).rejects.toThrow(/undefined/);
  }
});

test('an answer outside the error envelope or the OpenAPI document fails its test', async () => {
  const api = await apiOf(({ url }, res) => {
    if (url === '/api/v1/categories') res.writeHead(200, complete).end('{"data":[{}]}');
    else res.writeHead(404, complete).end('{"error":{"code":"unknown","message":"No."}}');
  });
  await expect(api.get('/nope')).rejects.toThrow('to deeply equal');
  await expect(api.get('/categories')).rejects.toThrow('to deeply equal []');
});

test('credentials in a request and in its answer are found in a log', async () => {
  const session = { access_token: 'access-token-received', refresh_token: 'refresh-token-received' };
  const api = await apiOf((_req, res) => res.writeHead(200, complete).end(JSON.stringify({ data: session })));
  await api.post('/nope').auth('access-token-sent', bearer).send({ password: 'password-sent' });
  for (const secret of [...Object.values(session), 'access-token-sent', 'password-sent'])
    expect(() => expectNoSecretIn(`a line with ${secret} in it`)).toThrow('the log holds the secret');
  expectNoSecretIn('a line without any');
});

const categories = (answer: { status?: number; headers?: object; body?: unknown }) =>
  departures('GET', '/categories', {
    status: answer.status ?? 200,
    headers: { ...headers, etag: 'W/"1"', ...answer.headers },
    body: 'body' in answer ? answer.body : { data: [category] },
  });

test('an answer that the document allows departs from it in nothing', () => {
  expect(categories({})).toEqual([]);
  expect(categories({ status: 304, body: undefined })).toEqual([]);
  expect(categories({ status: 401, headers: refusal, body: envelope })).toEqual([]);
});

test('a status that the document does not list is a departure', () => {
  expect(categories({ status: 404, body: envelope })).toEqual(['GET /categories 404: no such status']);
  expect(categories({ status: 201 })).toEqual(['GET /categories 201: no such status']);
});

test('a field that the document does not name is a departure, however deep', () => {
  for (const body of [
    { data: [], extra: 1 },
    { data: [{ ...category, extra: 1 }] },
    { data: [{ ...category, children: [category] }] },
  ]) {
    expect(categories({ body }).join()).toContain('must NOT have additional properties');
  }
});

test('a missing or a wrong field is a departure', () => {
  const { name: _, ...nameless } = category;
  expect(categories({ body: { data: [nameless] } }).join()).toContain("must have required property 'name'");
  expect(categories({ body: { data: [{ ...category, sort_order: '1' }] } }).join()).toContain(
    'must be integer',
  );
  expect(categories({ body: {} }).join()).toContain("must have required property 'data'");
});

test('a missing header is a departure', () => {
  const answer = { status: 200, headers, body: { data: [] } };
  expect(departures('GET', '/categories', answer)).toEqual(['GET /categories 200: lacks the header ETag']);
  expect(departures('GET', '/home', { ...answer, status: 429, body: envelope })).toEqual([
    'GET /home 429: lacks the header Retry-After',
    'GET /home 429: lacks the header X-Error-Reason',
  ]);
});

test('a header with a word that the document does not list is a departure', () => {
  const headers = { ...refusal, 'x-error-reason': 'limit_mails' };
  expect(categories({ status: 401, headers, body: envelope })).toEqual([
    'GET /categories 401: the header X-Error-Reason is limit_mails',
  ]);
});

test('a body where the document has none, and none where it has one, are departures', () => {
  expect(categories({ status: 304 })).toEqual(['GET /categories 304: has a body']);
  expect(categories({ body: undefined })).toEqual(['GET /categories 200: lacks its body']);
});
