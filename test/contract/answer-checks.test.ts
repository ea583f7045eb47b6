import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { departures } from '../openapi/departures.ts';
import { apiAt, bearer } from '../support/api.ts';
import { expectNoSecretIn } from '../support/secrets.ts';

// The client of the other tests checks every response. These tests show that it finds what is wrong.

type Answer = Parameters<typeof departures>[2];

const headers = {
  'x-request-id': '1',
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1782207060',
};
const category = { id: '1', name: 'Bowls', slug: 'bowls', description: null, sort_order: 1, children: [] };
const envelope = { error: { code: 'unauthorized', message: 'No.' } };
const notFound = { error: { code: 'not_found', message: 'No.' } };
const rejection = { 'www-authenticate': 'Bearer', 'x-error-reason': 'token_invalid' };

/** Returns a client of a server in place of a gateway. */
async function apiOf(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return apiAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`);
}

const complete = { ...headers, 'content-type': 'application/json; charset=utf-8' };

test('a response that departs from the envelope, the headers or the document fails its test', async () => {
  const failing: [path: string, headers: object, body: string, message: RegExp][] = [
    ['/nope', complete, '{"error":{"code":"unknown","message":"No."}}', /to deeply equal/],
    ['/categories', complete, '{"data":[{}]}', /to deeply equal \[\]/],
  ];
  for (const name of Object.keys(complete))
    failing.push(['/nope', { ...complete, [name]: [] }, JSON.stringify(notFound), /undefined/]);
  for (const [path, sent, body, message] of failing) {
    const api = await apiOf((_req, res) => {
      res.writeHead(path === '/nope' ? 404 : 200, sent as OutgoingHttpHeaders).end(body);
    });
    await expect(api.get(path), JSON.stringify(sent)).rejects.toThrow(message);
  }
});

test('credentials in a request and in its answer are found in a log', async () => {
  const session = { access_token: 'access-token-received', refresh_token: 'refresh-token-received' };
  const api = await apiOf((_req, res) => res.writeHead(200, complete).end(JSON.stringify({ data: session })));
  await api.post('/nope').auth('access-token-sent', bearer).send({ password: 'password-sent' });
  for (const secret of [...Object.values(session), 'access-token-sent', 'password-sent'])
    expect(() => expectNoSecretIn(`a line with ${secret} in it`)).toThrow('the log holds the secret');
  expectNoSecretIn('a line without any');
});

test('the checks find a status, field, header or missing body that departs from the document', () => {
  const { name: _, ...nameless } = category;
  const data = [category];
  const etag = 'W/"1"';
  for (const [answer, found] of [
    [{}, []],
    [{ status: 304, body: undefined }, []],
    [{ status: 401, headers: rejection, body: envelope }, []],
    [{ status: 404, body: envelope }, ['no such status']],
    [{ body: { data: [{ ...category, children: data }] } }, ['must NOT have additional properties']],
    [{ body: { data: [nameless] } }, ["must have required property 'name'"]],
    [{ body: { data: [{ ...category, sort_order: '1' }] } }, ['must be integer']],
    [
      { body: { data: [{ ...nameless, name: 'Bowls' }] } },
      ['must have its keys in the order of the document'],
    ],
    [{ headers: { etag: undefined } }, ['lacks the header ETag']],
    [
      { status: 401, headers: { ...rejection, 'x-error-reason': 'x' }, body: envelope },
      ['X-Error-Reason is x'],
    ],
    [{ status: 304 }, ['has a body']],
    [{ body: undefined }, ['lacks its body']],
  ] as const) {
    const whole = {
      status: 200,
      body: { data },
      ...answer,
      headers: { ...headers, etag, ...answer.headers },
    };
    expect(departures('GET', '/categories', whole as Answer), JSON.stringify(answer)).toEqual(
      found.map((words) => expect.stringContaining(words)),
    );
  }
});
