import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';

type FetchCallback = Hono<{ Bindings: HttpBindings }>['fetch'];

const connectionOptions = {
  // Exceeds Node's 5 s, because the connection would close between two uploads on a slow machine.
  keepAliveTimeout: 120_000,
  // Size limit of the address and the headers. PostgREST closes the connection beyond that.
  maxHeaderSize: 50 * 1024,
};

/**
 * Starts an HTTP server at an address of this machine.
 * @param port 0 picks a free port
 * @returns the address, and a function that stops serving, which can be called twice
 * @throws an Error of one sentence if the port is in use
 */
export async function listen(fetch: FetchCallback, port: number, address: string) {
  const server = createServer(connectionOptions, getRequestListener(fetch, { overrideGlobalObjects: false }));
  // Close the connection as PostgREST does, because Node would answer 431.
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(port, address);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? new Error(`Port ${port} is in use by another program.`) : error;
  });
  const { port: taken } = server.address() as AddressInfo;
  const close = async () => {
    if (!server.listening) return;
    const closed = server[Symbol.asyncDispose]();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${address}:${taken}`, port: taken, close };
}

/** Serves only public and signed files, because other machines can reach the address and the local keys are public. */
export function filesAlone(fetch: FetchCallback): FetchCallback {
  return new Hono<{ Bindings: HttpBindings }>()
    .on('GET', ['/storage/v1/object/public/*', '/storage/v1/object/sign/*'], (c) => fetch(c.req.raw, c.env))
    .notFound((c) => c.json({ message: 'Only public and signed files are served at this address.' }, 404)).fetch;
}
