import { createServer, type RequestListener } from 'node:http';
import request from 'supertest';
import { expect, inject, onTestFinished } from 'vitest';
import { calledFunctions } from '../../src/supabase/results.ts';
import { apiAt, expectCommonParts } from '../support/api.ts';
import { withSupabase } from '../support/fake-supabase.ts';
import { listen, startGateway } from '../support/gateway.ts';
import { startNetwork } from '../support/network.ts';
import { test } from '../support/test.ts';

test('plain HTTP is rejected for any headers if no proxy is trusted, but probes are accepted', async () => {
  const gateway = await startGateway({ REQUIRE_HTTPS: 'true', LOG_LEVEL: 'warn' });
  for (const path of ['/categories', '/nope']) {
    // Do not compare with the OpenAPI document, which describes only HTTPS.
    const rejected = () => request(gateway.url).get(path).expect(400).expect('X-Error-Reason', 'https_required');
    const get = () => rejected().expect(expectCommonParts);
    await get();
    await get().set('X-Forwarded-Proto', 'https');
    await get().set('Forwarded', 'proto=https');
  }
  expect(gateway.logged.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ trustProxy: false, msg: expect.stringMatching(/X-Forwarded-Proto: https.*TRUST_PROXY/) }),
  ]);
  const origin = request(`http://127.0.0.1:${gateway.port}`);
  const { headers } = await origin.get('/healthz').expect(200);
  expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit-'))).toEqual([]);
  const passed = { ok: true, ms: expect.any(Number) };
  const { body } = await origin.get('/readyz').expect(200);
  expect(body).toEqual({ status: 'ready', checks: { database: passed, auth: passed } });
  await gateway.close();
});

test('X-Forwarded-Proto of a trusted proxy distinguishes plain HTTP from HTTPS', async () => {
  const gateway = await startGateway({ REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
  const get = (protocol: string) =>
    request(gateway.url).get('/categories').set('X-Forwarded-Proto', protocol).expect(expectCommonParts);
  for (const protocol of ['https', 'HTTPS', 'HTTPS, http']) await get(protocol).expect(200);
  for (const protocol of ['http', 'http, https']) await get(protocol).expect(400);
  await gateway.close();
});

test.for([
  ['database', 503],
  ['auth', 503],
  ['auth', 'cut'],
] as const)('/readyz returns 503 and names the check that fails: only the %s is %s', async ([failing, fault]) => {
  const behave: RequestListener = (req, res) => {
    const isFailing = (req.url?.startsWith('/auth/') ? 'auth' : 'database') === failing;
    if (isFailing && fault === 'cut') req.socket.destroy();
    else res.writeHead(isFailing ? 503 : 200, { 'Content-Type': 'application/json' }).end('[]');
  };
  await withSupabase(behave, async (_api, { port }) => {
    const { body } = await request(`http://127.0.0.1:${port}`).get('/readyz').expect(503);
    const checks = { database: { ok: true }, auth: { ok: true }, [failing]: { ok: false } };
    expect(body).toMatchObject({ status: 'not ready', checks });
  });
});

test.for([
  [
    'SUPABASE_SECRET_KEY',
    'sb_secret_of_another_project',
    /^The project does not accept this as a secret key \(401\)\. Copy/,
  ],
  [
    'SUPABASE_PUBLISHABLE_KEY',
    'sb_publishable_of_another_project',
    /^The project does not accept this publishable key/,
  ],
  ['SUPABASE_URL', 'without migrations', /^Some or all of the migrations have not been applied\. Apply them: npx/],
] as const)(
  'a gateway with a wrong %s is not ready, and /readyz and the log tell the fix',
  async ([name, value, fix]) => {
    const empty = await listen(
      createServer((req, res) => void res.writeHead(req.url?.includes('rpc') ? 404 : 200).end('{"code":"PGRST202"}')),
    );
    onTestFinished(empty.close);
    const given = name === 'SUPABASE_URL' ? `http://127.0.0.1:${empty.port}` : value;
    const gateway = await startGateway({ [name]: given, LOG_LEVEL: 'error' });
    for (const _ of [1, 2]) {
      const { body } = await request(`http://127.0.0.1:${gateway.port}`).get('/readyz').expect(503);
      expect(body).toMatchObject({
        status: 'not ready',
        checks: { database: { ok: false, reason: expect.stringMatching(fix) } },
      });
      expect(gateway.logged.map((line) => JSON.parse(line).msg)).toEqual([
        `This gateway is not ready. ${body.checks.database.reason}`,
      ]);
    }
    await gateway.close();
  },
);

test('a gateway is not ready without functions that it needs, and /readyz names them', async ({ sql }) => {
  const { url: SUPABASE_URL } = await startNetwork(inject('stack').apiUrl, ({ path }) =>
    path.endsWith('/missing_functions') ? { status: 200, body: '["get_sound"]' } : undefined,
  );
  const gateway = await startGateway({ SUPABASE_URL });
  const { body } = await request(`http://127.0.0.1:${gateway.port}`).get('/readyz').expect(503);
  expect(body.checks.database.reason).toMatch(/^The database does not have these functions: get_sound\. Apply/);
  await gateway.close();

  const [row] = await sql`select public.missing_functions(${[...calledFunctions, 'later', 'another']}) as names`;
  expect(row).toEqual({ names: ['another', 'later'] });
});

test('every response has security headers and does not name its framework', async ({ gateway: { url, port } }) => {
  const client = request(url);
  for (const answer of [
    client.get('/categories').expect(200),
    client.get('/categories').set('If-None-Match', '*').expect(304),
    client.options('/categories').expect(204),
    client.put('/categories').expect(405),
    client.get('/nope').expect(404),
    client.get('/sounds').expect(401),
    request(`http://127.0.0.1:${port}`).get('/healthz').expect(200),
  ]) {
    const { headers } = await answer
      .expect('Strict-Transport-Security', /max-age=\d+/)
      .expect('X-Content-Type-Options', 'nosniff')
      .expect('X-Frame-Options', 'DENY')
      .expect('Content-Security-Policy', "default-src 'none';frame-ancestors 'none'");
    expect(headers['x-powered-by']).toBeUndefined();
  }
});

test('a response is the same in every encoding, and keeps its connection for 75 seconds', async () => {
  const categories = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => ({ id: n, name: `Category ${n}` })));
  const behave: RequestListener = (_req, res) =>
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(categories);
  // Use fetch, because supertest decompresses only gzip.
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
    expect(unchanged.headers.get('keep-alive')).toBe('timeout=75');
  });
});

const origin = 'https://app.example.com';
const preflight = {
  Origin: origin,
  'Access-Control-Request-Method': 'PATCH',
  'Access-Control-Request-Headers': 'authorization,traceparent,tracestate',
};

const exposed = ['Date', 'ETag', 'Retry-After', 'X-Error-Field', 'X-Error-Reason'];
exposed.push('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id', 'X-Service-Time');

test('CORS rejects all web pages unless origins are configured', async ({ api }) => {
  for (const method of ['get', 'options'] as const) {
    const { headers } = await api[method]('/categories').set(preflight);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

test('CORS allows a configured origin, or any port of a host, to call and read all headers', async () => {
  const limit = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '13' };
  const gateway = await startGateway({ CORS_ORIGINS: `${origin}, http://localhost:*`, ...limit });
  const api = apiAt(gateway.url);
  for (const path of ['/categories', '/sounds', '/nope', '/openapi.json'])
    await request(gateway.url)
      .get(path)
      .set({ Origin: origin, 'Accept-Encoding': 'gzip' })
      .expect('Access-Control-Allow-Origin', origin)
      .expect('Access-Control-Expose-Headers', exposed.join())
      .expect('Vary', path === '/openapi.json' ? /^Origin, Accept-Encoding$/ : /^Origin\b/);
  await api
    .options('/me/customer')
    .set(preflight)
    .expect(204)
    .expect('Access-Control-Allow-Methods', 'GET,POST,PUT,PATCH,DELETE')
    .expect('Access-Control-Allow-Headers', preflight['Access-Control-Request-Headers']);
  const allowed = async (from: string) =>
    (await api.get('/categories').set('Origin', from)).headers['access-control-allow-origin'];
  for (const from of ['http://localhost', 'http://localhost:5173']) expect(await allowed(from)).toBe(from);
  for (const from of [
    ...['https://evil.example', 'null', 'http://app.example.com'],
    ...['https://localhost:5173', 'http://localhost.evil.example', 'http://127.0.0.1:5173'],
  ])
    expect(await allowed(from)).toBeUndefined();
  const limited = api.get('/categories').set('Origin', origin).expect(429);
  await limited.expect('Access-Control-Allow-Origin', origin);
  await gateway.close();
});
