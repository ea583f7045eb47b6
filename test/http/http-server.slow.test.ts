import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { fixture } from '../support/fixture.ts';
import { environment, startListening } from '../support/server-process.ts';
import { test as base } from '../support/test.ts';

type Server = Awaited<ReturnType<typeof startListening>>;

/** A gateway in its own process, so that its open files can be counted. */
const test = base.extend<{ $file: { server: Server } }>({
  server: [
    fixture(async (use) => {
      const server = await startListening(environment());
      await use(server);
      server.child.kill('SIGTERM');
      expect(await server.exited).toEqual([0, null]);
    }),
    { scope: 'file' },
  ],
});

const openFiles = ({ child }: Server) => readdirSync(`/proc/${child.pid}/fd`).length;

const portOf = ({ origin }: Server) => Number(new URL(origin).port);

async function openSockets(count: number, port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

const categories = async ({ origin }: Server) => (await fetch(`${origin}/api/v1/categories`)).status;

describe('the gateway survives', () => {
  test('500 clients that never finish their headers get 408 while others are served', async ({ server }) => {
    const sockets = await openSockets(500, portOf(server));
    let received = '';
    for (const socket of sockets) socket.write('GET /api/v1/categories HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    sockets[0]?.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
    });
    expect(await categories(server)).toBe(200);
    expect(received).toBe(''); // while these are still waited for
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    expect(received).toMatch(/^HTTP\/1.1 408 /);
    expect(received).toContain('"code":"invalid_request"');
  });

  const countable = process.platform === 'linux';
  const why = countable ? '' : ' (not run: open files are counted in /proc, which only Linux has)';
  test.runIf(countable)(
    `clients that disconnect during their request, and leaks no connections${why}`,
    async ({ server, user }) => {
      const before = openFiles(server);
      for (const socket of await openSockets(300, portOf(server))) {
        socket.write(
          `GET /api/v1/home HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${user.access_token}\r\n\r\n`,
          () => socket.destroy(),
        );
      }
      expect(await categories(server)).toBe(200);
      // The pool of connections to Supabase may have grown.
      await expect.poll(() => openFiles(server)).toBeLessThan(before + 200);
    },
  );

  test.runIf(countable)(
    `clients that pipeline downloads and leave without reading, and closes their files${why}`,
    async ({ server }) => {
      const before = openFiles(server);
      const download = 'GET /api/v1/docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8);
      const sockets = await openSockets(200, portOf(server));
      await Promise.all(sockets.map((socket) => new Promise((sent) => socket.pause().write(download, sent))));
      expect(await categories(server)).toBe(200);
      for (const socket of sockets) socket.destroy();
      await expect.poll(() => openFiles(server), { timeout: 10_000 }).toBeLessThan(before + 20);
    },
  );

  test.runIf(countable)(
    `clients that stop reading: each is disconnected within 30 seconds${why}`,
    { timeout: 60_000 },
    async ({ server }) => {
      const before = openFiles(server);
      const download = 'GET /api/v1/docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8);
      const sockets = await openSockets(50, portOf(server));
      for (const socket of sockets)
        socket
          .on('error', () => {})
          .pause()
          .write(download);
      await expect.poll(() => openFiles(server), { timeout: 10_000 }).toBeGreaterThan(before + 40);
      await expect
        .poll(() => openFiles(server), { timeout: 45_000, interval: 500 })
        .toBeLessThan(before + 10);
      for (const socket of sockets) socket.destroy();
    },
  );

  test('a burst of 2,000 connections with a request each', async ({ server }) => {
    const answers = await Promise.all(
      Array.from({ length: 2000 }, async () => {
        const call = request(`${server.origin}/api/v1/categories`, { agent: false });
        call.end();
        const [response] = await once(call, 'response');
        return response.resume().statusCode as number;
      }),
    );
    expect(answers).toEqual(Array(2000).fill(200));
    expect(await categories(server)).toBe(200);
  });
});
