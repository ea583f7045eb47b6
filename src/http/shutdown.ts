import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { Context } from '../context.ts';
import { logWritten } from '../shared/logger.ts';

/**
 * Time between two checks after the drain, each of which closes the connections that have brought no bytes since the
 * last one, unless a response is under way.
 */
const silentAfterDrainMs = 2_000;

/** Ignores a second signal within this time, because npm forwards a Ctrl-C that the terminal also sends. */
const samePressMs = 500;

/** Makes responses close their connections during the shutdown. */
export function closeWhileDraining({ lifecycle }: Context): RequestHandler {
  return (_req, res, next) => {
    if (lifecycle.draining) res.setHeader('Connection', 'close');
    next();
  };
}

/**
 * Follows the open connections and the responses under way.
 * @returns both, and `answering`, which returns the responses to requests that have arrived whole
 */
function follow(server: Server) {
  const connections = new Set<Socket>();
  const responses = new Set<ServerResponse>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (_req, res) => {
    responses.add(res);
    res.once('close', () => responses.delete(res));
  });
  return { connections, responses, answering: () => [...responses].filter(({ req }) => req.complete) };
}

/**
 * Accepts the connections that clients have opened and Node has not accepted yet, because `server.close()` would lose
 * them. Node accepts one in each turn of the event loop, so this waits for a turn that brings none.
 */
async function acceptOpened(server: Server, timeLeftMs: () => number) {
  let accepted = true;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  while (accepted && timeLeftMs() > 0) {
    accepted = false;
    await nextTurn(); // accepts the next connection
    await nextTurn(); // reads its request
  }
  server.off('connection', note);
}

/**
 * Ends the connections that have brought no bytes since the last call, unless a response is under way. They are idle, or
 * have a half-sent request that pauses.
 * @param seen numbers of bytes that each connection had read at the last call; the first call ends none
 */
function endSilent({ connections, answering }: ReturnType<typeof follow>, seen: Map<Socket, number>) {
  const answered = new Set(answering().map(({ req }) => req.socket));
  for (const socket of connections) {
    if (!answered.has(socket) && seen.get(socket) === socket.bytesRead) socket.destroy();
    seen.set(socket, socket.bytesRead);
  }
}

/**
 * Ends the process on SIGTERM and SIGINT, in phases. Answers every request that arrives whole in time, also on
 * connections that are still open after the drain, unless it pauses for 2 to 4 s then.
 */
export function shutDownOnSignals({ config, lifecycle, log, close: disconnect }: Context, server: Server): void {
  const open = follow(server);
  const inFlight = () => open.answering().length;
  /** Number of requests that were cut at the end of the grace period, which a second signal also reports. */
  let cutAtDeadline = 0;

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
    for (const res of open.responses) if (!res.headersSent) res.setHeader('Connection', 'close');
    await sleep(Math.min(config.drainSeconds * 1000, timeLeftMs()));
    await acceptOpened(server, timeLeftMs);

    log.info({ phase: 'answer' }, `${inFlight()} requests are in flight; no new connections are accepted`);
    const closed = new Promise((resolve) => server.once('close', resolve));
    // server.close() calls this, and would cut requests whose bytes are on their way. endSilent ends idle connections.
    server.closeIdleConnections = () => {};
    server.close();
    const seen = new Map<Socket, number>();
    endSilent(open, seen);
    const timer = setInterval(() => endSilent(open, seen), silentAfterDrainMs);
    await Promise.race([closed, sleep(timeLeftMs())]);
    clearInterval(timer);
    cutAtDeadline = inFlight();
    server.closeAllConnections();

    log.info({ phase: 'disconnect' }, 'Closing the connections to Redis and Supabase');
    await disconnect(timeLeftMs());
    await end(cutAtDeadline, 'after SHUTDOWN_GRACE_SECONDS');
  }

  let signalledAt = Number.NaN;
  function onSignal(signal: NodeJS.Signals) {
    if (!lifecycle.draining) {
      lifecycle.draining = true;
      signalledAt = performance.now();
      void shutDown(signal);
    } else if (performance.now() - signalledAt >= samePressMs) {
      void end(cutAtDeadline + inFlight(), `by a second ${signal}`);
    }
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
