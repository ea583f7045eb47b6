import { createServer, type OutgoingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { departures } from '../openapi/departures.ts';
import { apiAt, bearer } from '../support/api.ts';
import { listen } from '../support/gateway.ts';
import { expectNoSecretIn } from '../support/secrets.ts';

// The client of the tests checks every response. These tests check that it reports wrong responses.

const headers = {
  'x-request-id': '1',
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1782207060',
  'x-service-time': '1782207000123',
};
const notFound = { error: { code: 'not_found', message: 'No.' } };

test('the checks reject a response without its common parts, and find its credentials in a log', async () => {
  const complete: OutgoingHttpHeaders = { ...headers, 'content-type': 'application/json; charset=utf-8' };
  const rejection: OutgoingHttpHeaders = { ...complete, 'x-error-reason': 'no_such_path' };
  let [sent, body]: [OutgoingHttpHeaders, object] = [rejection, notFound];
  const server = createServer((req, res) => {
    res.writeHead(req.url?.endsWith('/nope') ? 404 : 200, sent).end(JSON.stringify(body));
  });
  const { port, close } = await listen(server);
  const api = apiAt(`http://127.0.0.1:${port}/api/v1`);
  await api.get('/nope');
  for (const name of Object.keys(rejection)) {
    sent = { ...rejection, [name]: [] };
    await expect(api.get('/nope'), name).rejects.toThrow(/undefined/);
  }
  sent = rejection;
  body = { error: { code: 'unknown', message: 'No.' } };
  await expect(api.get('/nope')).rejects.toThrow(/to deeply equal/);
  sent = complete;
  body = { data: [{}] };
  await expect(api.get('/categories')).rejects.toThrow(/to deeply equal \[\]/);

  const received = { access_token: 'access-token-received', refresh_token: 'refresh-token-received' };
  body = { data: received };
  await api.post('/unknown').auth('access-token-sent', bearer).send({ password: 'password-sent' });
  for (const secret of [...Object.values(received), 'access-token-sent', 'password-sent'])
    expect(() => expectNoSecretIn(`a line with ${secret} in it`)).toThrow('the log contains the secret');
  expectNoSecretIn('a line without any');
  await close();
});

test('the checks find a status, field, header or missing body that violates the document', () => {
  const { name, ...nameless } = { name: 'Bowls', id: '1', slug: 'bowls', description: null, sort_order: 1 };
  const category = { id: '1', name, slug: 'bowls', description: null, sort_order: 1, children: [] };
  const etag = 'W/"1"';
  const rejection = { 'www-authenticate': 'Bearer', 'x-error-reason': 'token_invalid' };
  const answered = (status: number, body: unknown, more: object = {}) =>
    departures('GET', '/categories', { status, headers: { ...headers, ...more }, body });
  const listed = (rows: object[], more: object = { etag }) => answered(200, { data: rows }, more);
  const fine = [listed([category]), answered(304, undefined, { etag }), answered(401, notFound, rejection)];
  expect(fine.flat()).toEqual([]);
  for (const [found, fault] of [
    [answered(404, notFound), 'no such status'],
    [listed([{ ...category, children: [category] }]), 'must NOT have additional properties'],
    [listed([{ ...nameless, children: [] }]), "must have required property 'name'"],
    [listed([{ ...category, sort_order: '1' }]), 'must be integer'],
    [listed([{ ...nameless, children: [], name }]), 'must have its keys in the order of the document'],
    [listed([category], {}), 'lacks the header ETag'],
    [answered(401, notFound, { ...rejection, 'x-error-reason': 'x' }), 'X-Error-Reason is x'],
    [answered(304, {}, { etag }), 'has a body'],
    [answered(200, undefined, { etag }), 'lacks its body'],
  ] as const)
    expect(found).toEqual([expect.stringContaining(fault)]);
});
