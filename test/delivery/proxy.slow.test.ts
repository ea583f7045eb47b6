/** @module-tag caddy */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { environment, startListening } from '../support/server-process.ts';
import { pathOf } from '../support/tools.ts';

// Accept the self-signed certificate of the proxy.
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
afterAll(() => dispatcher.close());

async function send(url: string, method: 'GET' | 'POST' = 'GET', headers: Record<string, string> = {}) {
  const { statusCode, body } = await request(url, { dispatcher, method, headers });
  return { status: statusCode, text: await body.text() };
}

/**
 * Runs ops/Caddyfile for a test, with a self-signed certificate and two local ports instead of the containers.
 * @param writeLimit time limit for each response
 */
async function startCaddy(gatewayPorts: readonly [number, number], writeLimit = '2m') {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-caddy-'));
  const [configuration, accessLog] = [join(folder, 'Caddyfile'), join(folder, 'access.log')];
  let delivered = await readFile('ops/Caddyfile', 'utf8');
  for (const [text, changed] of [
    ['gateway-a:3000 gateway-b:3000', gatewayPorts.map((port) => `127.0.0.1:${port}`).join(' ')],
    ['{\n\tservers {', '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tservers {'],
    ['write 2m', `write ${writeLimit}`],
  ] as const) {
    expect(delivered).toContain(text);
    delivered = delivered.replace(text, changed);
  }
  await writeFile(configuration, delivered);
  const origin = `https://localhost:${await freePort()}`;
  const child = spawn(pathOf('caddy'), ['run', '--config', configuration, '--adapter', 'caddyfile'], {
    env: { PATH: process.env['PATH'], HOME: folder, SITE_ADDRESS: origin, ACCESS_LOG: accessLog },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const answers = () =>
    send(`${origin}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(answers).toBe(404);
  return { origin, accessLog };
}

/** Starts a server in place of a gateway. It closes the connection of a POST, and `/docs/scalar.js` is large. */
async function startStub(seen: IncomingMessage[], closed = () => {}) {
  const server = createServer((req, res) => {
    if (req.url === '/healthz') return void res.end();
    seen.push(req);
    if (req.method === 'POST') req.socket.destroy();
    else if (req.url?.endsWith('scalar.js')) res.once('close', closed).end(Buffer.alloc(50_000_000));
    else res.writeHead(404, { 'X-Answer': 'of-a-gateway' }).end('x');
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('the proxy forwards addresses, retries no POST and hides /readyz', async () => {
  const seen: [IncomingMessage[], IncomingMessage[]] = [[], []];
  const ports = [await startStub(seen[0]), await startStub(seen[1])] as const;
  const { origin, accessLog } = await startCaddy(ports);

  const claims = { 'X-Forwarded-For': '9.9.9.9', 'X-Forwarded-Proto': 'http', Authorization: 'Bearer of-somebody' };
  const url = `${origin}/api/v1/sounds?search=private`;
  await Promise.all(Array.from({ length: 20 }, () => send(url, 'GET', claims)));
  for (const requests of seen) expect(requests).not.toEqual([]);
  for (const { headers } of seen.flat()) {
    expect(headers['x-forwarded-for']).toMatch(/^(127\.0\.0\.1|::1)$/);
    expect(headers['x-forwarded-proto']).toBe('https');
  }

  const failed = await send(`${origin}/api/v1/auth/signup`, 'POST');
  expect(seen.flat()).toHaveLength(21);
  expect([failed.status, JSON.parse(failed.text)]).toEqual([
    500,
    { error: { code: 'server_error', message: expect.stringMatching(/\.$/) } },
  ]);

  for (const path of ['/readyz', '/readyz/', '/READYZ', '/%72eadyz', '/readyz?x']) {
    const { status, text } = await send(origin + path);
    const error = { code: 'not_found', message: 'There is no such path.' };
    expect([status, JSON.parse(text)], path).toEqual([404, { error }]);
  }
  expect(seen.flat()).toHaveLength(21);

  const log = await readFile(accessLog, 'utf8');
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.find(({ request: { uri } }) => uri === '/api/v1/sounds')).toMatchObject({
    status: 404,
    duration: expect.any(Number),
    request: { method: 'GET', remote_ip: expect.stringMatching(/^(127\.0\.0\.1|::)$/) },
  });
  expect(log).not.toMatch(/private|of-somebody|of-a-gateway/);
});

test('the proxy aborts stalled downloads', async () => {
  const { promise: cutOff, resolve: closed } = Promise.withResolvers<void>();
  const ports = [await startStub([], closed), await startStub([], closed)] as const;
  const { origin } = await startCaddy(ports, '2s');
  const { port } = new URL(origin);
  const socket = connect({ port: Number(port), servername: 'localhost', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.pause().on('error', () => {});
  socket.write(`GET /api/v1/docs/scalar.js HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
  await cutOff;
  socket.destroy();
});

test('the proxy answers every request while one of two gateways stops', async () => {
  const start = async (port: number) => {
    const PORT = String(port);
    const gateway = await startListening({ ...environment(), PORT, REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
    onTestFinished(() => void gateway.child.kill());
    return gateway;
  };
  const ports = [await freePort(), await freePort()] as const;
  const [one] = [await start(ports[0]), await start(ports[1])];
  const { origin } = await startCaddy(ports);
  const statuses: string[] = [];
  let isEnding = false;
  const clients = (['GET', 'POST', 'GET', 'POST'] as const).map(async (method) => {
    const path = method === 'GET' ? '/categories' : '/favorites';
    while (!isEnding) statuses.push(`${method} ${(await send(`${origin}/api/v1${path}`, method)).status}`);
  });
  const untilMore = async () => {
    const before = statuses.length;
    await expect.poll(() => statuses.length).toBeGreaterThan(before + 50);
  };
  await untilMore();
  one.child.kill('SIGTERM');
  expect(await one.exited).toEqual([0, null]);
  await untilMore();
  isEnding = true;
  await Promise.all(clients);
  expect(new Set(statuses)).toEqual(new Set(['GET 200', 'POST 401']));
});
