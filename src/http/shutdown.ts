import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { logWritten } from '../logger.ts';

/** Keeps idle connections for this time, because a request may be on its way. */
const idleMs = 2_000;

/** Ends the process on SIGTERM and SIGINT, in phases. No request that was received is lost. */
export function shutDownOnSignals({ config, lifecycle, log, close }: Context, server: Server): void {
  const inFlight = new Set<ServerResponse>();
  server.on('request', (_req, res) => {
    inFlight.add(res);
    res.once('close', () => inFlight.delete(res));
  });

  async function shutDown(signal: NodeJS.Signals) {
    if (lifecycle.draining) return; // npm forwards a Ctrl-C that the terminal also sends
    lifecycle.draining = true;
    const endsAt = performance.now() + config.shutdownGraceSeconds * 1000;
    const timeLeftMs = () => Math.max(0, endsAt - performance.now());

    log.info({ phase: 'stop accepting' }, `${signal}: no new connections are accepted`);
    const closed = once(server, 'close');
    const closeIdleConnections = server.closeIdleConnections.bind(server);
    server.closeIdleConnections = () => {}; // otherwise close() would lose requests that are on their way
    server.close();

    log.info({ phase: 'answer' }, `${inFlight.size} requests are in flight; responses close their connection`);
    for (const res of inFlight) if (!res.headersSent) res.setHeader('Connection', 'close');
    server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
    await Promise.race([closed, sleep(Math.min(idleMs, timeLeftMs()))]);

    log.info({ phase: 'finish' }, `${inFlight.size} requests are in flight; idle connections are closed`);
    closeIdleConnections();
    const graceOver = sleep(timeLeftMs());
    for (const res of inFlight) await Promise.race([new Promise((resolve) => res.once('close', resolve)), graceOver]);
    const cut = inFlight.size;
    server.closeAllConnections();

    log.info({ phase: 'disconnect' }, 'Closing the connections to Redis and Supabase');
    await close(timeLeftMs());
    if (cut > 0) log.warn(`Ended: SHUTDOWN_GRACE_SECONDS was too short for ${cut} requests, which were cut`);
    else log.info('Ended');
    await logWritten();
    process.exit(cut > 0 ? 1 : 0);
  }

  process.on('SIGTERM', shutDown).on('SIGINT', shutDown);
}
