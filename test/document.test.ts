import { expect, test } from 'vitest';
import { departures } from './support/document.ts';

// Every answer in the other tests is compared with the OpenAPI document; these show that the comparison finds differences.

const headers = {
  'x-request-id': '1',
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1782207060',
};
const category = { id: '1', name: 'Bowls', slug: 'bowls', description: null, sort_order: 1, children: [] };
const envelope = { error: { code: 'unauthorized', message: 'No.' } };

const categories = (answer: { status?: number; headers?: object; body?: unknown }) =>
  departures('GET', '/categories', {
    status: answer.status ?? 200,
    headers: { ...headers, etag: 'W/"1"', ...answer.headers },
    body: 'body' in answer ? answer.body : { data: [category] },
  });

test('an answer that the document allows departs from it in nothing', () => {
  expect(categories({})).toEqual([]);
  expect(categories({ status: 304, body: undefined })).toEqual([]);
  expect(categories({ status: 401, headers: { 'www-authenticate': 'Bearer' }, body: envelope })).toEqual([]);
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
  ]);
});

test('a body where the document has none, and none where it has one, are departures', () => {
  expect(categories({ status: 304 })).toEqual(['GET /categories 304: has a body']);
  expect(categories({ body: undefined })).toEqual(['GET /categories 200: lacks its body']);
});
