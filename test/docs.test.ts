import { describe, expect } from 'vitest';
import { endpoints } from '../src/app.ts';
import { openApiDocument } from '../src/openapi/document.ts';
import { readAnswer } from './support/api.ts';
import { canRunBrowser, inBrowser, type View } from './support/browser.ts';
import { startGateway } from './support/gateway.ts';
import { test } from './support/test.ts';

const addresses = ['/openapi.json', '/docs', '/docs/scalar.js', '/docs/start.js'];

describe('GET /openapi.json', () => {
  test('is the document that the declarations make, for anyone', async ({ api }) => {
    const { status, body } = await api.get('/openapi.json');
    expect(status).toBe(200);
    expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(endpoints))));
  });
});

describe('the document, the reference and its scripts', () => {
  test('carry the rate-limit headers and the security headers, and may be revalidated', async ({
    gateway,
  }) => {
    for (const address of addresses) {
      const { status, headers } = await fetch(gateway.url + address);
      expect(status, address).toBe(200);
      for (const name of ['limit', 'remaining', 'reset']) {
        expect(headers.get(`x-ratelimit-${name}`), address).toMatch(/^\d+$/);
      }
      expect(headers.get('x-request-id')).not.toBeNull();
      expect(headers.get('strict-transport-security')).toMatch(/max-age=\d+/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      const again = await fetch(gateway.url + address, {
        headers: { 'If-None-Match': headers.get('etag') ?? '' },
      });
      expect([again.status, await again.text()], address).toEqual([304, '']);
    }
  });

  test('answer OPTIONS, and 405 to methods they do not have, as probes do', async ({ api }) => {
    for (const address of [...addresses, '/../../healthz', '/../../readyz']) {
      const options = await api.send('OPTIONS', address);
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
      const post = await api.post(address);
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  test('are counted, and refused over plain HTTP, like every address', async () => {
    const limited = await startGateway({ ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(addresses.length) });
    for (const address of addresses) expect((await fetch(limited.url + address)).status).toBe(200);
    for (const address of addresses) {
      expect((await readAnswer(await fetch(limited.url + address))).status).toBe(429);
    }
    await limited.close();
    const secure = await startGateway({ REQUIRE_HTTPS: 'true' });
    for (const address of addresses) {
      expect((await readAnswer(await fetch(secure.url + address))).status).toBe(400);
    }
    await secure.close();
  });
});

describe('GET /docs', () => {
  test('lets scripts come from its own origin alone, and connect to nothing else', async ({ gateway }) => {
    const { headers } = await fetch(`${gateway.url}/docs`);
    const policy = new Map(
      headers
        .get('content-security-policy')
        ?.split(';')
        .map((directive) => {
          const [name = '', ...sources] = directive.trim().split(' ');
          return [name, sources.join(' ')];
        }),
    );
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toBe("'self'");
    expect(policy.get('connect-src')).toBe("'self'");
    expect(policy.get('frame-ancestors')).toBe("'none'");
  });

  const views: Record<string, View> = {
    'in the light': { width: 1280, colorScheme: 'light' },
    'in the dark': { width: 1280, colorScheme: 'dark' },
    'on a phone': { width: 390, colorScheme: 'light' },
  };
  test.for(Object.entries(views))(
    'lists every endpoint and tries one out %s, without a complaint or a request elsewhere',
    async ([, view], { gateway, skip }) => {
      skip(!canRunBrowser, 'Install chromium to open the reference.');
      await inBrowser(`${gateway.url}/docs`, view, async (page, { complaints, requests }) => {
        if (view.width < 1000) await page.getByRole('button', { name: 'Open Menu' }).click();
        for (const { summary } of endpoints) {
          await page.getByRole('link', { name: `${summary} HTTP Method` }).waitFor();
        }
        await page.getByRole('link', { name: 'Category tree HTTP Method' }).click();
        const section = page.getByRole('region', { name: 'Category tree', exact: true });
        await section.getByRole('button', { name: 'Test Request' }).click();
        const client = page.getByRole('dialog');
        await client.getByRole('button', { name: 'Send get request' }).click();
        await client.getByRole('link', { name: '200 OK' }).waitFor();

        expect(await page.locator('body').getAttribute('class')).toBe(`${view.colorScheme}-mode`);
        expect(requests.map(({ href }) => href)).toContain(`${gateway.url}/categories`);
        expect(complaints).toEqual([]);
        expect(requests.filter(({ origin }) => origin !== new URL(gateway.url).origin)).toEqual([]);
      });
    },
  );
});
