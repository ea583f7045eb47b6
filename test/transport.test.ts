import { describe, expect } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { apiOf, test } from './support/test.ts';

describe('plain HTTP', () => {
  test('is refused whatever its headers claim, as long as no proxy is trusted', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true' });
    const api = apiOf(gateway);
    for (const headers of [{}, { 'X-Forwarded-Proto': 'https' }, { Forwarded: 'proto=https' }] as Record<
      string,
      string
    >[]) {
      for (const path of ['/categories', '/nope']) {
        const { status, headers: answered } = await api.get(path, { headers });
        expect(status).toBe(400);
        expect(answered.get('location')).toBeNull();
      }
    }
    await gateway.close();
  });

  test('behind a trusted proxy is told from https by what that proxy says', async () => {
    const gateway = await startGateway({ REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
    const api = apiOf(gateway);
    const statusWith = async (protocol: string) =>
      (await api.get('/categories', { headers: { 'X-Forwarded-Proto': protocol } })).status;
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
  test('carries security headers and does not name its framework', async ({ api }) => {
    for (const path of ['/categories', '/nope', '/sounds']) {
      const { headers } = await api.get(path);
      expect(headers.get('strict-transport-security')).toMatch(/max-age=\d+/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test('is compressed when the client takes that and it is worth it', async ({ gateway, user }) => {
    const response = await fetch(`${gateway.url}/home`, {
      headers: { Authorization: `Bearer ${user.access_token}`, 'Accept-Encoding': 'gzip' },
    });
    const body = await response.text();
    expect(response.headers.get('content-encoding')).toBe(body.length > 1024 ? 'gzip' : null);
  });
});
