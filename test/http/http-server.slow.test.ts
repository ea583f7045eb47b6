import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { fixture } from '../support/fixture.ts';
import { environment, startListening } from '../support/server-process.ts';
import { test as base } from '../support/test.ts';

type Server = Awaited<ReturnType<typeof startListening>>;

/** Test function with a gateway in a separate process, so that its open files can be counted. */
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

async function openSockets(count: number, { origin }: Server): Promise<Socket[]> {
  const port = Number(new URL(origin).port);
  const cut = () => {}; // the gateway may reset a connection
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', cut));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

const categories = async ({ origin }: Server) => (await fetch(`${origin}/api/v1/categories`)).status;

test('500 clients that never finish their headers get 408 while others are served', async ({ server }) => {
  const sockets = await openSockets(500, server);
  let received = '';
  for (const socket of sockets) socket.write('GET /api/v1/categories HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  sockets[0]?.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  expect(await categories(server)).toBe(200);
  expect(received).toBe(''); // while the server still waits for the headers
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  expect(received).toMatch(/^HTTP\/1.1 408 /);
  expect(received).toContain('"code":"invalid_request"');
});

const countable = process.platform === 'linux';
const why = countable ? '' : ' (not run: only Linux has /proc, which lists open files)';
test.runIf(countable)(
  `clients that disconnect during their request leave no connection open${why}`,
  async ({ server, user }) => {
    const before = openFiles(server);
    for (const socket of await openSockets(300, server)) {
      socket.write(`GET /api/v1/home HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${user.access_token}\r\n\r\n`, () =>
        socket.destroy(),
      );
    }
    expect(await categories(server)).toBe(200);
    // The pool of connections to Supabase may have grown, too.
    await expect.poll(() => openFiles(server)).toBeLessThan(before + 200);
  },
);

test.runIf(countable)(
  `clients that stop reading keep no file open, and are disconnected within 30 seconds${why}`,
  { timeout: 60_000 },
  async ({ server }) => {
    const before = openFiles(server);
    const downloads = 'GET /api/v1/docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8);
    const sockets = await openSockets(250, server);
    // Count the files before clients stall, because a slow machine disconnects the first while the last still send.
    await expect.poll(() => openFiles(server)).toBeGreaterThan(before + 240);
    const post =
      'POST /api/v1/auth/signin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
    const behind = ['', post, post.slice(0, 30), 'GET /api/v1/categories HTTP/1.1\r\nHost: a\r\n\r\n'];
    const write = (socket: Socket, index: number) =>
      new Promise((sent) => socket.pause().write(downloads + behind[index % behind.length], sent));
    await Promise.all(sockets.map(write));
    expect(await categories(server)).toBe(200);
    for (const socket of sockets.splice(0, 200)) socket.destroy();
    await expect.poll(() => openFiles(server), { timeout: 10_000 }).toBeLessThan(before + 70);
    await expect.poll(() => openFiles(server), { timeout: 45_000, interval: 500 }).toBeLessThan(before + 10);
    for (const socket of sockets) socket.destroy();
  },
);
