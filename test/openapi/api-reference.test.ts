import request from 'supertest';
import { describe, expect } from 'vitest';
import { endpoints } from '../../src/app.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { apiAt } from '../support/api.ts';
import { canRunBrowser, inBrowser } from '../support/browser.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

const addresses = ['/openapi.json', '/docs', '/docs/guide', '/docs/scalar.js', '/docs/start.js'];

describe('GET /openapi.json', () => {
  test('returns the document that is generated from the endpoints, without a token', async ({ api }) => {
    const { body } = await api.get('/openapi.json').expect(200);
    expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(endpoints))));
  });
});

describe('the OpenAPI document, the reference and its scripts', () => {
  test('carry rate-limit and security headers, and can be revalidated', async ({ gateway }) => {
    for (const address of addresses) {
      const { headers } = await request(gateway.url)
        .get(address)
        .expect(200)
        .expect('X-RateLimit-Limit', /^\d+$/)
        .expect('X-RateLimit-Remaining', /^\d+$/)
        .expect('X-RateLimit-Reset', /^\d+$/)
        .expect('X-Request-Id', /./)
        .expect('Strict-Transport-Security', /max-age=\d+/)
        .expect('X-Content-Type-Options', 'nosniff');
      await request(gateway.url)
        .get(address)
        .set('If-None-Match', headers['etag'] ?? '')
        .expect(304, '');
    }
  });

  test('answer OPTIONS, and 405 to methods they do not have, as probes do', async ({ gateway }) => {
    const origin = apiAt(`http://127.0.0.1:${gateway.port}`);
    for (const address of [...addresses.map((path) => `/api/v1${path}`), '/healthz', '/readyz']) {
      await origin.options(address).expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
      await origin.post(address).expect(405).expect('Allow', 'GET, HEAD, OPTIONS');
    }
  });

  test('count against the rate limit and are rejected over plain HTTP, like every address', async () => {
    const limited = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(addresses.length) });
    for (const address of addresses) await request(limited.url).get(address).expect(200);
    for (const address of addresses) await apiAt(limited.url).get(address).expect(429);
    await limited.close();
    const secure = await startGateway({ REQUIRE_HTTPS: 'true' });
    for (const address of addresses) await apiAt(secure.url).get(address).expect(400);
    await secure.close();
  });
});

describe('GET /docs', () => {
  test('allows scripts and connections of its own origin alone', async ({ gateway }) => {
    const { headers } = await request(gateway.url).get('/docs');
    const policy = new Map(
      headers['content-security-policy']?.split(';').map((directive) => {
        const [name = '', ...sources] = directive.trim().split(' ');
        return [name, sources.join(' ')];
      }),
    );
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toBe("'self'");
    expect(policy.get('connect-src')).toBe("'self'");
    expect(policy.get('frame-ancestors')).toBe("'none'");
  });

  test('shows the fields of a response in the order of the document', async ({ gateway, skip }) => {
    skip(!canRunBrowser, 'Install chromium to open the reference.');
    const { Customer: customer } = openApiDocument(endpoints).components?.schemas ?? {};
    const fields = Object.keys((customer as { properties: object }).properties);
    await inBrowser(
      `${gateway.url}/docs`,
      { width: 1280, colorScheme: 'light' },
      async (page, { complaints }) => {
        await page.getByRole('link', { name: 'Caller customer record HTTP Method' }).click();
        const section = page.getByRole('region', { name: 'Caller customer record', exact: true });
        await section.getByRole('button', { name: /^200/ }).first().click();
        await section.getByText('id, email, full_name').click();
        const names = section.locator('.property-name');
        await names.getByText('updated_at').waitFor();
        const shown = await names.allInnerTexts();
        expect(shown.filter((name) => fields.includes(name))).toEqual(fields);
        expect(complaints).toEqual([]);
      },
    );
  });
});
