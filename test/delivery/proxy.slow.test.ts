import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { environment, startListening } from '../support/server-process.ts';
import { canRunCaddy, startCaddy } from './caddy.ts';

// The proxy signs its own certificate here.
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
afterAll(() => dispatcher.close());

async function send(url: string, method: 'GET' | 'POST', headers: Record<string, string> = {}) {
  const { statusCode, body } = await request(url, { dispatcher, method, headers });
  return { status: statusCode, text: await body.text() };
}

/** Starts a server in place of a gateway; it records the requests that reach it. */
async function startStub(behave: RequestListener) {
  const seen: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    if (req.url === '/healthz') {
      res.end();
      return;
    }
    seen.push(req);
    behave(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, seen, stop };
}

async function withStubs(
  behave: RequestListener,
  check: (url: string, seen: () => IncomingMessage[][], accessLog: string) => Promise<void>,
  changes?: Record<string, string>,
) {
  const [one, other] = [await startStub(behave), await startStub(behave)];
  const caddy = await startCaddy([one.port, other.port], changes);
  await check(caddy.url, () => [one.seen, other.seen], caddy.accessLog);
  await caddy.stop();
  await Promise.all([one.stop(), other.stop()]);
}

describe('the proxy of compose.yaml', () => {
  test.beforeEach(({ skip }) => skip(!canRunCaddy, 'Install caddy to try the proxy.'));

  test("distributes requests and forwards the client's real address and scheme, whatever it claims", async () => {
    await withStubs(
      (_req, res) => res.end('x'),
      async (url, seen) => {
        const claims = { 'X-Forwarded-For': '9.9.9.9', 'X-Forwarded-Proto': 'http' };
        await Promise.all(Array.from({ length: 20 }, () => send(`${url}/home`, 'GET', claims)));
        expect(seen().every((requests) => requests.length > 0)).toBe(true);
        for (const { headers } of seen().flat()) {
          expect(headers['x-forwarded-for']).toMatch(/^(127\.0\.0\.1|::1)$/);
          expect(headers['x-forwarded-proto']).toBe('https');
        }
      },
    );
  });

  test('never retries a POST, and answers in the error envelope when no gateway does', async () => {
    await withStubs(
      (req) => req.socket.destroy(),
      async (url, seen) => {
        const answer = await send(`${url}/auth/signup`, 'POST');
        expect(seen().flat()).toHaveLength(1);
        expect(answer.status).toBe(500);
        expect(JSON.parse(answer.text)).toEqual({
          error: { code: 'server_error', message: expect.stringMatching(/\.$/) },
        });
      },
    );
  });

  test('keeps /readyz, which tells how the parts behind the gateways are, to itself', async () => {
    await withStubs(
      (_req, res) => res.end('of a gateway'),
      async (url, seen) => {
        const { origin } = new URL(url);
        for (const path of ['/readyz', '/readyz/', '/READYZ', '/%72eadyz', '/readyz?x']) {
          const { status, text } = await send(origin + path, 'GET');
          expect([status, JSON.parse(text).error], path).toEqual([
            404,
            { code: 'not_found', message: 'There is no such path.' },
          ]);
        }
        expect(seen().flat()).toEqual([]);
      },
    );
  });

  test('ends a download that nobody takes, and the memory that it holds', async () => {
    const closed = Promise.withResolvers<void>();
    await withStubs(
      (_req, res) => res.once('close', closed.resolve).end(Buffer.alloc(50_000_000)),
      async (url) => {
        const { hostname, port } = new URL(url);
        const socket = connect({
          host: hostname,
          port: Number(port),
          servername: hostname,
          rejectUnauthorized: false,
        });
        await once(socket, 'secureConnect');
        socket.pause().on('error', () => {});
        socket.write(`GET /api/v1/docs/scalar.js HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
        await closed.promise;
        socket.destroy();
      },
      { 'write 2m': 'write 2s' },
    );
  });

  test('logs every request with its client and status, but neither its query nor its headers', async () => {
    await withStubs(
      (_req, res) => res.writeHead(404, { 'X-Answer': 'of-a-gateway' }).end(),
      async (url, _seen, accessLog) => {
        await send(`${url}/sounds?search=private`, 'GET', { Authorization: 'Bearer of-somebody' });
        const text = () => readFile(accessLog, 'utf8').catch(() => '');
        await expect.poll(text).toContain('/api/v1/sounds');
        expect(JSON.parse((await text()).trim())).toMatchObject({
          status: 404,
          duration: expect.any(Number),
          request: {
            method: 'GET',
            uri: '/api/v1/sounds',
            remote_ip: expect.stringMatching(/^(127\.0\.0\.1|::)$/),
          },
        });
        expect(await text()).not.toMatch(/private|of-somebody|of-a-gateway/);
      },
    );
  });

  test('answers every request while one of two gateways is restarted', async () => {
    const gateway = (port: number) =>
      startListening({ ...environment(), PORT: String(port), REQUIRE_HTTPS: 'true', TRUST_PROXY: '1' });
    const ports = [await freePort(), await freePort()] as const;
    const [one, other] = [await gateway(ports[0]), await gateway(ports[1])];
    const caddy = await startCaddy(ports);
    const statuses = new Map<string, number>();
    let ending = false;
    const clients = (['GET', 'POST', 'GET', 'POST'] as const).map(async (method) => {
      while (!ending) {
        const path = method === 'GET' ? '/categories' : '/favorites';
        const { status } = await send(caddy.url + path, method);
        statuses.set(`${method} ${status}`, (statuses.get(`${method} ${status}`) ?? 0) + 1);
      }
    });
    const answered = () => statuses.values().reduce((sum, count) => sum + count, 0);
    const untilMore = async () => {
      const before = answered();
      await expect.poll(answered).toBeGreaterThan(before + 50);
    };
    await untilMore();
    one.child.kill('SIGTERM');
    expect(await one.exited).toEqual([0, null]);
    await untilMore();
    const again = await gateway(ports[0]);
    await untilMore();
    ending = true;
    await Promise.all(clients);
    expect([...statuses.keys()].toSorted()).toEqual(['GET 200', 'POST 401']);

    for (const { child, exited } of [again, other]) {
      child.kill('SIGTERM');
      await exited;
    }
    await caddy.stop();
  });
});
