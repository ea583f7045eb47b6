import request from 'supertest';
import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { openApiDocument, openDocumentText } from '../../src/openapi/document.ts';
import { apiAt } from '../support/api.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

const files = ['guide', 'guide.md', 'app-in-swift', 'llms.txt', 'scalar.js', 'start.js'].map((name) => `/docs/${name}`);
const addresses = ['/openapi.json', '/openapi-open.json', '/docs', ...files];

describe('the OpenAPI document, the reference and its scripts', () => {
  test('GET /openapi.json and /openapi-open.json return the documents without a token', async ({ api }) => {
    const document = openApiDocument(endpoints);
    for (const [path, text] of [
      ['/openapi.json', JSON.stringify(document)],
      ['/openapi-open.json', openDocumentText(document)],
    ] as const)
      expect((await api.get(path).expect('Content-Type', /^application\/json/)).body).toEqual(JSON.parse(text));
  });

  test('have the headers of all responses, and can be revalidated', async ({ gateway }) => {
    for (const address of addresses) {
      const { headers } = await request(gateway.url).get(address).expect(200);
      for (const name of ['limit', 'remaining', 'reset']) expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/);
      expect(headers['x-request-id']).toMatch(/./);
      expect(headers['strict-transport-security']).toMatch(/max-age=\d+/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      const etag = headers['etag'] ?? '';
      await request(gateway.url).get(address).set('If-None-Match', etag).expect(304, '');
      if (address !== '/docs') continue;
      const ofOwnOrigin = ["script-src 'self'", "connect-src 'self'"];
      const policy = ["default-src 'none'", ...ofOwnOrigin, "frame-ancestors 'none'"];
      expect(headers['content-security-policy']?.split(';')).toEqual(expect.arrayContaining(policy));
    }
  });

  test('answer OPTIONS with their methods, and other methods with 405, as probes do', async ({ gateway }) => {
    const origin = apiAt(`http://127.0.0.1:${gateway.port}`);
    for (const address of [...addresses.map((path) => `/api/v1${path}`), '/healthz', '/readyz']) {
      await origin.options(address).expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
      await origin.post(address).expect(405).expect('Allow', 'GET, HEAD, OPTIONS');
    }
  });

  test('count against the rate limit and are rejected over plain HTTP, like every path', async () => {
    const limit = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(addresses.length) };
    const { url, close } = await startGateway({ ...limit, REQUIRE_HTTPS: 'true' });
    for (const address of addresses) await apiAt(url).get(address).expect(400);
    for (const address of addresses) await apiAt(url).get(address).expect(429);
    await close();
  });
});
