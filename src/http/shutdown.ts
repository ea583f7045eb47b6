import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';

/**
 * How long a silent keep-alive connection may still bring a request, in milliseconds. Closing it at once would lose
 * the request that is on its way; the answer to that request says that the connection ends.
 */
const lingerMs = 2_000;

/**
 * Stops listening, lets every request in flight finish, and resolves when the last connection is gone.
 * @param graceMs after which connections are cut
 * @returns true when every connection ended by itself, false when some were cut
 */
export async function drain(server: Server, graceMs: number): Promise<boolean> {
  const started = performance.now();
  let idleClosed = false;
  let cut = false;
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  // Connections that have not brought a request yet count as active; Node ends them by this limit.
  server.headersTimeout = lingerMs;
  // The close of http.Server would close idle connections at once.
  TcpServer.prototype.close.call(server);

  const timer = setInterval(() => {
    const waitedMs = performance.now() - started;
    if (idleClosed && waitedMs >= graceMs) {
      cut = true;
      server.closeAllConnections();
    } else if (waitedMs >= Math.min(lingerMs, graceMs)) {
      idleClosed = true;
      server.closeIdleConnections();
    }
  }, 100);
  await once(server, 'close');
  clearInterval(timer);
  return !cut;
}
