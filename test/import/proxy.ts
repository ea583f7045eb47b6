import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject, onTestFinished } from 'vitest';

/** What happens to a request on its way: undefined lets it pass, a status answers it, `cut` breaks its connection. */
export type Fault = undefined | number | 'cut';

export interface ProxiedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/**
 * A stretch of network before Supabase, for one test, that can be slow, break, or be overloaded.
 * @param decide asked before each request; what it waits for, the request waits for
 * @param after asked before each answer, with the request
 */
export async function startFaultyProxy(
  decide: (request: ProxiedRequest) => Fault | Promise<Fault>,
  after: (request: ProxiedRequest) => Fault | Promise<Fault> = () => undefined,
) {
  const { apiUrl, secretKey } = inject('stack');
  const passed: ProxiedRequest[] = [];
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks) };
    const end = (fault: Fault) => {
      if (fault === 'cut') outgoing.destroy();
      else outgoing.writeHead(fault ?? 200).end();
    };
    const fault = await decide(request);
    if (fault !== undefined) return end(fault);
    passed.push(request);
    const forwarded = http.request(apiUrl + path, { method, headers }, async (answer) => {
      const afterwards = await after(request);
      if (afterwards !== undefined) return end(afterwards);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
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
  return { apiUrl: `http://127.0.0.1:${port}`, secretKey, passed };
}

export const isUpload = ({ method, path }: ProxiedRequest) =>
  method === 'POST' && path.startsWith('/storage/v1/object/') && !path.includes('/list/');

export const isPart = ({ method, path }: ProxiedRequest) =>
  method === 'PATCH' && path.startsWith('/storage/v1/upload/resumable');

export const isSoundWrite = ({ method, path }: ProxiedRequest) =>
  method !== 'GET' && path.startsWith('/rest/v1/sounds');

export const isImportRecord = ({ method, path }: ProxiedRequest) =>
  method !== 'GET' && path.startsWith('/rest/v1/imported_sounds');

/** Something to wait for. */
export function latch() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
