import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { departures } from '../openapi/departures.ts';
import { apiAt, bearer } from '../support/api.ts';
import { expectNoSecretIn } from '../support/secrets.ts';

// The client of the other tests checks every answer on its own. These tests show that it finds what is wrong.

const headers = {
  'x-request-id': '1',
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1782207060',
};
const category = { id: '1', name: 'Bowls', slug: 'bowls', description: null, sort_order: 1, children: [] };
const envelope = { error: { code: 'unauthorized', message: 'No.' } };
const rejection = { 'www-authenticate': 'Bearer', 'x-error-reason': 'token_invalid' };

/** The client of a server that stands in for a gateway. */
async function apiOf(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return apiAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`);
}

const complete = { ...headers, 'content-type': 'application/json; charset=utf-8' };

test('a response without request id, rate-limit headers or JSON content type fails its test', async () => {
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

test('the checks find a status, field, header or missing body that departs from the document', () => {
  const { name: _, ...nameless } = category;
  const told = [
    [{}, []],
    [{ status: 304, body: undefined }, []],
    [{ status: 401, headers: rejection, body: envelope }, []],
    [{ status: 404, body: envelope }, ['no such status']],
    [{ body: { data: [{ ...category, children: [category] }] } }, ['must NOT have additional properties']],
    [{ body: { data: [nameless] } }, ["must have required property 'name'"]],
    [{ body: { data: [{ ...category, sort_order: '1' }] } }, ['must be integer']],
    [
      { body: { data: [{ ...nameless, name: 'Bowls' }] } },
      ['must have its keys in the order of the document'],
    ],
    [{ headers: { etag: undefined } }, ['lacks the header ETag']],
    [
      { status: 401, headers: { ...rejection, 'x-error-reason': 'limit_mails' }, body: envelope },
      ['the header X-Error-Reason is limit_mails'],
    ],
    [{ status: 304 }, ['has a body']],
    [{ body: undefined }, ['lacks its body']],
  ] as const;
  for (const [answer, words] of told) {
    const found = categories(answer);
    expect([found.length, found.join()], JSON.stringify(answer)).toEqual([
      words.length,
      expect.stringContaining(words.join()),
    ]);
  }
});
