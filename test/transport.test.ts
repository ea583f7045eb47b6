import type { RequestListener } from 'node:http';
import { describe, expect } from 'vitest';
import { readAnswer, readUndocumented } from './support/api.ts';
import { withSupabase } from './support/fake-supabase.ts';
import { startGateway } from './support/gateway.ts';
import { test } from './support/test.ts';

describe('plain HTTP', () => {
  test('is refused whatever its headers claim, as long as no proxy is trusted', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true' });
    for (const headers of [{}, { 'X-Forwarded-Proto': 'https' }, { Forwarded: 'proto=https' }] as Record<
      string,
      string
    >[]) {
      for (const path of ['/categories', '/nope']) {
        const answer = await readUndocumented(
          await fetch(gateway.url + path, { headers, redirect: 'manual' }),
        );
        expect(answer.status).toBe(400);
      }
    }
    await gateway.close();
  });

  test('behind a trusted proxy is told from https by what that proxy says', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
    const statusWith = async (protocol: string) => {
      const headers = { 'X-Forwarded-Proto': protocol };
      return (await readUndocumented(await fetch(`${gateway.url}/categories`, { headers }))).status;
    };
    expect(await statusWith('https')).toBe(200);
    expect(await statusWith('http')).toBe(400);
    await gateway.close();
  });

  test('is what probes come over: they are answered without it', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true' });
    const base = `http://127.0.0.1:${gateway.port}`;
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    const ready = await fetch(`${base}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({
      status: 'ready',
      checks: { database: { ok: true, ms: expect.any(Number) }, auth: { ok: true, ms: expect.any(Number) } },
    });
    await gateway.close();
  });
});

describe('/readyz', () => {
  test('is 503 and says which part is missing while Supabase is out of reach', async () => {
    const gateway = await startGateway({ SUPABASE_URL: 'http://127.0.0.1:9' });
    const response = await fetch(`http://127.0.0.1:${gateway.port}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 'not ready',
      checks: { database: { ok: false }, auth: { ok: false } },
    });
    await gateway.close();
  });
});

describe('every answer', () => {
  test('carries security headers and does not name its framework', async ({ gateway: { url } }) => {
    for (const [status, address, init] of [
      [200, `${url}/categories`],
      [304, `${url}/categories`, { headers: { 'If-None-Match': '*' } }],
      [204, `${url}/categories`, { method: 'OPTIONS' }],
      [405, `${url}/categories`, { method: 'PUT' }],
      [404, `${url}/nope`],
      [401, `${url}/sounds`],
      [200, `${url}/docs`],
      [200, new URL('/healthz', url)],
    ] as const) {
      const answer = await fetch(address, init);
      expect(answer.status).toBe(status);
      const { headers } = answer;
      expect(headers.get('strict-transport-security')).toMatch(/max-age=\d+/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test.for([50, 5_000])(
    'says the same however it is compressed, and caches are told: %i items',
    async (items) => {
      const categories = JSON.stringify(
        Array.from({ length: items }, (_, index) => ({ name: `Category ${index}` })),
      );
      const behave: RequestListener = (_req, res) => {
        res.writeHead(200, { 'Content-Type': 'application/json' }).end(categories);
      };
      await withSupabase(behave, async ({ url }) => {
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
    },
  );
});

describe('a web page of another origin', () => {
  const origin = 'https://app.example.com';
  const preflight = { Origin: origin, 'Access-Control-Request-Method': 'PATCH' };

  test('is allowed nothing unless origins are configured', async ({ api }) => {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await api.send(method, '/categories', { headers: preflight });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  test('gets compressed answers that caches keep apart by both', async () => {
    const long: RequestListener = (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(`["${'long'.repeat(1_000)}"]`);
    };
    await withSupabase(
      long,
      async ({ url }) => {
        const { headers } = await fetch(`${url}/categories`, {
          headers: { Origin: origin, 'Accept-Encoding': 'gzip' },
        });
        expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
        expect(headers.get('access-control-allow-origin')).toBe(origin);
      },
      { CORS_ORIGINS: origin },
    );
  });

  test('may call and read the headers of every answer, errors too, when its origin is configured; others may not', async () => {
    const gateway = await startGateway({ CORS_ORIGINS: `${origin}, https://b.example` });
    for (const path of ['/categories', '/sounds', '/nope']) {
      const { headers } = await readAnswer(await fetch(gateway.url + path, { headers: { Origin: origin } }));
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-expose-headers')).toContain('X-RateLimit-Remaining');
      expect(headers.get('vary')).toMatch(/^Origin\b/);
    }
    const allowed = await readAnswer(
      await fetch(`${gateway.url}/me/customer`, { method: 'OPTIONS', headers: preflight }),
      'OPTIONS',
    );
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PATCH');
    for (const other of ['https://evil.example', 'null', 'http://app.example.com']) {
      const { headers } = await readAnswer(
        await fetch(`${gateway.url}/categories`, { headers: { Origin: other } }),
      );
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    await gateway.close();
  });
});
