import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';
import { logWritten } from '../shared/logger.ts';

/** Keeps idle connections for this time, because a request may be on its way. */
const idleMs = 2_000;

/** Ignores a second signal within this time, because npm forwards a Ctrl-C that the terminal also sends. */
const samePressMs = 500;

/** Newest response on each connection. */
const newestOf = new WeakMap<Socket, ServerResponse>();

/** Closes the connection after this response, unless Node would then drop a pipelined request behind it. */
function closeAfter(res: ServerResponse) {
  if (newestOf.get(res.req.socket) === res && !res.headersSent) res.setHeader('Connection', 'close');
}

/** Makes responses close their connections during the shutdown. */
export function closeWhileDraining({ lifecycle }: Context): RequestHandler {
  return (req, res, next) => {
    const before = newestOf.get(req.socket);
    newestOf.set(req.socket, res);
    if (!lifecycle.draining) return next();
    if (before?.headersSent === false) before.removeHeader('Connection');
    // Waits until Node has read the pipelined requests behind this one.
    setImmediate(() => {
      closeAfter(res);
      next();
    });
  };
}

/** Ends the process on SIGTERM and SIGINT, in phases. No request that was received is lost. */
export function shutDownOnSignals({ config, lifecycle, log, close }: Context, server: Server): void {
  const inFlight = new Set<ServerResponse>();
  server.on('request', (_req, res) => {
    inFlight.add(res);
    res.once('close', () => inFlight.delete(res));
  });

  async function end(cut: number, why: string) {
    if (cut > 0) log.warn(`Ended: ${cut} requests were cut ${why}`);
    else log.info('Ended');
    await logWritten();
    process.exit(cut > 0 ? 1 : 0);
  }

  async function shutDown(signal: NodeJS.Signals) {
    const endsAt = performance.now() + config.shutdownGraceSeconds * 1000;
    const timeLeftMs = () => Math.max(0, endsAt - performance.now());

    log.info({ phase: 'drain' }, `${signal}: /readyz is 503, new connections are still accepted`);
    for (const res of inFlight) closeAfter(res);
    await sleep(Math.min(config.drainSeconds * 1000, timeLeftMs()));
    await nextTurn(); // accepts the connections that wait in the kernel, which would be reset

    log.info({ phase: 'answer' }, `${inFlight.size} requests are in flight; no new connections are accepted`);
    const closed = new Promise((resolve) => server.once('close', resolve));
    const closeIdleConnections = server.closeIdleConnections.bind(server);
    server.closeIdleConnections = () => {}; // otherwise close() would lose requests that are on their way
    server.close();
    await Promise.race([closed, sleep(Math.min(idleMs, timeLeftMs()))]);

    log.info({ phase: 'finish' }, `${inFlight.size} requests are in flight; idle connections are closed`);
    closeIdleConnections();
    const graceOver = sleep(timeLeftMs());
    for (const res of inFlight) await Promise.race([new Promise((resolve) => res.once('close', resolve)), graceOver]);
    const cut = inFlight.size;
    server.closeAllConnections();

    log.info({ phase: 'disconnect' }, 'Closing the connections to Redis and Supabase');
    await close(timeLeftMs());
    await end(cut, 'after SHUTDOWN_GRACE_SECONDS');
  }

  let signalledAt = Number.NaN;
  function onSignal(signal: NodeJS.Signals) {
    if (!lifecycle.draining) {
      lifecycle.draining = true;
      signalledAt = performance.now();
      void shutDown(signal);
    } else if (performance.now() - signalledAt >= samePressMs) void end(inFlight.size, `by a second ${signal}`);
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
