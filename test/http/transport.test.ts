import type { RequestListener } from 'node:http';
import request from 'supertest';
import { describe, expect } from 'vitest';
import { apiAt, expectCommonParts } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { startGateway } from '../support/gateway.ts';
import { test } from '../support/test.ts';

describe('plain HTTP', () => {
  test('rejects plain HTTP whatever its headers say while no proxy is trusted', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true' });
    for (const path of ['/categories', '/nope']) {
      // The OpenAPI document describes the service over HTTPS alone.
      const get = () => request(gateway.url).get(path).expect(400).expect(expectCommonParts);
      await get();
      await get().set('X-Forwarded-Proto', 'https');
      await get().set('Forwarded', 'proto=https');
    }
    await gateway.close();
  });

  test('reads the scheme from X-Forwarded-Proto behind a trusted proxy', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
    const get = (protocol: string) =>
      request(gateway.url).get('/categories').set('X-Forwarded-Proto', protocol).expect(expectCommonParts);
    for (const protocol of ['https', 'HTTPS', 'Https', 'HTTPS, http']) await get(protocol).expect(200);
    for (const protocol of ['http', 'HTTP', 'http, https']) await get(protocol).expect(400);
    await gateway.close();
  });

  test('accepts plain HTTP for probes', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true' });
    const origin = request(`http://127.0.0.1:${gateway.port}`);
    await origin.get('/healthz').expect(200);
    const { body } = await origin.get('/readyz').expect(200);
    expect(body).toEqual({
      status: 'ready',
      checks: { database: { ok: true, ms: expect.any(Number) }, auth: { ok: true, ms: expect.any(Number) } },
    });
    await gateway.close();
  });
});

describe('/readyz', () => {
  test('returns 503 and names the failing checks while Supabase is unreachable', async () => {
    const gateway = await startGateway({ SUPABASE_URL: 'http://127.0.0.1:9' });
    const { body } = await request(`http://127.0.0.1:${gateway.port}`).get('/readyz').expect(503);
    expect(body).toMatchObject({
      status: 'not ready',
      checks: { database: { ok: false }, auth: { ok: false } },
    });
    await gateway.close();
  });

  test.for(['database', 'auth'])('returns 503 while the %s alone fails', async (failing) => {
    const behave: RequestListener = (req, res) => {
      const part = req.url?.startsWith('/auth/') ? 'auth' : 'database';
      res.writeHead(part === failing ? 503 : 200, { 'Content-Type': 'application/json' }).end('[]');
    };
    await withSupabase(behave, async (_api, { port }) => {
      const { body } = await request(`http://127.0.0.1:${port}`).get('/readyz').expect(503);
      expect(body.checks).toMatchObject({
        database: { ok: true },
        auth: { ok: true },
        [failing]: { ok: false },
      });
    });
  });
});

describe('every answer', () => {
  test('every response has security headers and does not name its framework', async ({
    gateway: { url, port },
  }) => {
    const client = request(url);
    for (const answer of [
      client.get('/categories').expect(200),
      client.get('/categories').set('If-None-Match', '*').expect(304),
      client.options('/categories').expect(204),
      client.put('/categories').expect(405),
      client.get('/nope').expect(404),
      client.get('/sounds').expect(401),
      client.get('/docs').expect(200),
      request(`http://127.0.0.1:${port}`).get('/healthz').expect(200),
    ]) {
      const { headers } = await answer
        .expect('Strict-Transport-Security', /max-age=\d+/)
        .expect('X-Content-Type-Options', 'nosniff');
      expect(headers['x-powered-by']).toBeUndefined();
    }
  });

  test.for([50, 5_000])('a response of %i items is the same in every encoding', async (items) => {
    const categories = JSON.stringify(
      Array.from({ length: items }, (_, index) => ({ name: `Category ${index}` })),
    );
    const behave: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(categories);
    };
    // supertest decompresses gzip alone.
    await withSupabase(behave, async (_api, { url }) => {
      for (const [accepted, encoding] of [
        ['gzip', 'gzip'],
        ['gzip, deflate, br', 'gzip'],
        ['br', 'br'],
        ['gzip;q=0', null],
        ['identity', null],
      ] as const) {
        const response = await fetch(`${url}/categories`, { headers: { 'Accept-Encoding': accepted } });
        expect(await response.text()).toBe(`{"data":${categories}}`);
        expect(response.headers.get('content-encoding')).toBe(encoding);
        expect(response.headers.get('vary')).toBe('Accept-Encoding');
      }
      const unchanged = await fetch(`${url}/categories`, { headers: { 'If-None-Match': '*' } });
      expect([unchanged.status, unchanged.headers.get('vary')]).toEqual([304, 'Accept-Encoding']);
    });
  });
});

describe('a web page of another origin', () => {
  const origin = 'https://app.example.com';
  const preflight = { Origin: origin, 'Access-Control-Request-Method': 'PATCH' };

  test('allows nothing to web pages unless origins are configured', async ({ api }) => {
    for (const method of ['get', 'options'] as const) {
      const { headers } = await api[method]('/categories').set(preflight);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  test('a compressed response varies by origin and by encoding', async () => {
    const long: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(`["${'long'.repeat(1_000)}"]`);
    };
    await withSupabase(
      long,
      async (_api, { url }) => {
        await request(url)
          .get('/categories')
          .set({ Origin: origin, 'Accept-Encoding': 'gzip' })
          .expect('Vary', 'Origin, Accept-Encoding')
          .expect('Access-Control-Allow-Origin', origin);
      },
      { CORS_ORIGINS: origin },
    );
  });

  test('a configured origin may call and read the headers of every response, other origins may not', async () => {
    const gateway = await startGateway({ CORS_ORIGINS: `${origin}, https://b.example` });
    const api = apiAt(gateway.url);
    for (const path of ['/categories', '/sounds', '/nope']) {
      await api
        .get(path)
        .set('Origin', origin)
        .expect('Access-Control-Allow-Origin', origin)
        .expect(
          'Access-Control-Expose-Headers',
          /Date,.*X-Error-Field,X-Error-Reason,.*X-RateLimit-Remaining/,
        )
        .expect('Vary', /^Origin\b/);
    }
    await api
      .options('/me/customer')
      .set(preflight)
      .expect(204)
      .expect('Access-Control-Allow-Methods', /PATCH/);
    for (const other of ['https://evil.example', 'null', 'http://app.example.com']) {
      const { headers } = await api.get('/categories').set('Origin', other);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    await gateway.close();
  });

  test('a page may be at any port of a configured host', async () => {
    const gateway = await startGateway({ CORS_ORIGINS: 'http://localhost:*' });
    const allowed = async (from: string) =>
      (await apiAt(gateway.url).get('/categories').set('Origin', from)).headers[
        'access-control-allow-origin'
      ];
    for (const from of ['http://localhost', 'http://localhost:5173']) expect(await allowed(from)).toBe(from);
    for (const from of ['https://localhost:5173', 'http://localhost.evil.example', 'http://127.0.0.1:5173'])
      expect(await allowed(from)).toBeUndefined();
    await gateway.close();
  });
});
