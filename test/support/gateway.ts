import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { createContext } from '../../src/context.ts';
import { createHttpServer } from '../../src/http/http-server.ts';
import { createMetricsServer } from '../../src/shared/metrics.ts';
import { expectNoSecretIn, noteSecret } from './secrets.ts';
import { environment } from './server-process.ts';

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Listens on a free port of 127.0.0.1. Returns the port, and a function that closes the server and its connections. */
export async function listen(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, close };
}

/**
 * Starts the real app on a free port, with the stack of this test run and, by default, very high rate limits.
 * @param env environment variables as an operator would set them
 * @param apple address of an emulator of Apple
 */
export async function startGateway(env: Record<string, string> = {}, apple?: string) {
  const config = loadConfig({ ...environment(), ...env });
  for (const secret of Object.values(config.secrets)) noteSecret(secret);
  const logged: string[] = [];
  const log = pino({ level: config.logLevel }, { write: (line: string) => logged.push(line) });
  const context = createContext(config, log, apple);
  const server = createHttpServer(config, createApp(context));
  let requests = 0;
  server.on('request', () => requests++);
  const { port, close } = await listen(server);
  const metrics = context.metrics && (await listen(createMetricsServer(context.metrics)));
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    port,
    /** Null unless METRICS_PORT is set. */
    metricsUrl: metrics && `http://127.0.0.1:${metrics.port}/metrics`,
    logged,
    /** Returns the number of requests so far. */
    arrived: () => requests,
    close: async () => {
      await close();
      await metrics?.close();
      await context.close();
      expectNoSecretIn(logged.join(''));
    },
  };
}
