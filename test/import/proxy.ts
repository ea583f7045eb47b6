import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject, onTestFinished } from 'vitest';

/** What happens to a request on its way: undefined lets it pass, a status answers it, `cut` breaks its connection. */
export type Fate = undefined | number | 'cut';

export interface Passing {
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
export async function proxyBefore(
  decide: (passing: Passing) => Fate | Promise<Fate>,
  after: (passing: Passing) => Fate | Promise<Fate> = () => undefined,
) {
  const { apiUrl, secretKey } = inject('stack');
  const passed: Passing[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const passing = { method, path, headers, body: Buffer.concat(chunks) };
    const end = (fate: Fate) => {
      if (fate === 'cut') outgoing.destroy();
      else outgoing.writeHead(fate ?? 200).end();
    };
    const fate = await decide(passing);
    if (fate !== undefined) return end(fate);
    passed.push(passing);
    const forwarded = request(apiUrl + path, { method, headers }, async (answer) => {
      const afterwards = await after(passing);
      if (afterwards !== undefined) return end(afterwards);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => end('cut')).end(passing.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { apiUrl: `http://127.0.0.1:${port}`, secretKey, passed };
}

export const isUpload = ({ method, path }: Passing) =>
  method === 'POST' && path.startsWith('/storage/v1/object/') && !path.includes('/list/');

export const isPart = ({ method, path }: Passing) =>
  method === 'PATCH' && path.startsWith('/storage/v1/upload/resumable');

export const isRow = ({ method, path }: Passing) => method !== 'GET' && path.startsWith('/rest/v1/sounds');

export const isMemory = ({ method, path }: Passing) =>
  method !== 'GET' && path.startsWith('/rest/v1/imported_sounds');

/** Something to wait for. */
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
