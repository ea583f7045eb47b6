import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';

type FetchCallback = Hono<{ Bindings: HttpBindings }>['fetch'];

/** A server at one address. */
export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Closes it, open connections included. Safe to call twice. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;
/** Of an address and its headers: PostgREST hangs up beyond that. */
const MAX_HEADER_BYTES = 50 * 1024;

/**
 * Serves at an address of this machine.
 * @param port 0 picks a free one
 * @throws an Error of one sentence when the port is in use
 */
export async function listen(fetch: FetchCallback, port: number, address: string): Promise<Listener> {
  const serverOptions = { maxHeaderSize: MAX_HEADER_BYTES };
  const server = createAdaptorServer({ fetch, serverOptions, overrideGlobalObjects: false });
  // Node would answer 431.
  server.on('clientError', (_error, socket: Socket) => socket.destroy());
  // On a slow machine Node's 5 seconds pass between two uploads, and the connection of the next would be closed under it.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, address);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`Port ${port} is in use by another program.`) : error;
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${taken}`,
    port: taken,
    async close() {
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Of an API only the public and signed files, to be downloaded. Whoever is in the same network may reach these; everything
 * else of a local Supabase is opened by keys that everybody knows.
 */
export function filesAlone(fetch: FetchCallback): FetchCallback {
  return new Hono<{ Bindings: HttpBindings }>()
    .on('GET', ['/storage/v1/object/public/*', '/storage/v1/object/sign/*'], (c) => fetch(c.req.raw, c.env))
    .notFound((c) => c.json({ message: 'Only public and signed files are served at this address.' }, 404))
    .fetch;
}
