import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from './gateway.ts';

interface Answer {
  status: number;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** Fault of a request. Undefined passes it, a status or response answers it, `cut` closes its connection. */
export type Fault = undefined | number | Answer | 'cut';

export interface ProxiedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export type Decide = (request: ProxiedRequest) => Fault | Promise<Fault>;

/**
 * Starts a proxy for one test that can delay, answer or cut requests.
 * @param target URL of the server, or a function that selects it for each request
 * @param decide returns the fault of each request; the request waits for its promise
 * @param after returns the fault of each response, called with the request
 * @returns URL of the proxy, and the requests that were passed
 */
export async function startNetwork(
  target: string | ((request: ProxiedRequest) => string),
  decide: Decide,
  after: Decide = () => undefined,
) {
  const passed: ProxiedRequest[] = [];
  const server = http.createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return; // the client disconnected while it sent its body
    const request = { method, path, headers, body };
    /** Tells whether the fault has ended the request. */
    const endBy = (fault: Fault): boolean => {
      if (fault === undefined) return false;
      const answer: Answer | 'cut' = typeof fault === 'number' ? { status: fault } : fault;
      if (answer === 'cut') outgoing.destroy();
      else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
      return true;
    };
    if (endBy(await decide(request))) return;
    passed.push(request);
    const origin = typeof target === 'string' ? target : target(request);
    const forwarded = http.request(origin + path, { method, headers }, async (answer) => {
      if (endBy(await after(request))) return;
      // Close the connection, because a browser would repeat a cut request on a reused connection.
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'close' });
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => endBy('cut')).end(request.body);
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, passed };
}
