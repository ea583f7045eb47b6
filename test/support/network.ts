import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Answer = { status: number; headers?: OutgoingHttpHeaders; body?: string };

/** Fault of a request: undefined lets it pass, a status answers it, `cut` breaks its connection. */
export type Fault = undefined | number | Answer | 'cut';

export type ProxiedRequest = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
};

export type Decide = (request: ProxiedRequest) => Fault | Promise<Fault>;

/**
 * A stretch of network, for one test, that can be slow, break, or be overloaded.
 * @param target the server behind it, or which of several a request goes to
 * @param decide asked before each request; what it waits for, the request waits for
 * @param after asked before each answer, with the request
 * @returns where it listens, and the requests that it let pass
 */
export async function startNetwork(
  target: string | ((request: ProxiedRequest) => string),
  decide: Decide,
  after: Decide = () => undefined,
) {
  const passed: ProxiedRequest[] = [];
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks) };
    const end = (fault: Exclude<Fault, undefined>) => {
      if (fault === 'cut') {
        outgoing.destroy();
        return;
      }
      const answer: Answer = typeof fault === 'number' ? { status: fault } : fault;
      outgoing.writeHead(answer.status, answer.headers).end(answer.body);
    };
    const fault = await decide(request);
    if (fault !== undefined) {
      end(fault);
      return;
    }
    passed.push(request);
    const origin = typeof target === 'string' ? target : target(request);
    const forwarded = http.request(origin + path, { method, headers }, async (answer) => {
      const afterwards = await after(request);
      if (afterwards !== undefined) {
        end(afterwards);
        return;
      }
      // On a connection that was used before, a browser would send again by itself what is cut.
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'close' });
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => end('cut')).end(request.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, passed };
}
