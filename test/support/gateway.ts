import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { createContext } from '../../src/context.ts';
import { createHttpServer } from '../../src/http/http-server.ts';
import { createMetricsServer } from '../../src/metrics.ts';
import { expectNoSecretIn, noteSecret } from './secrets.ts';
import { environment } from './server-process.ts';

export type Gateway = {
  url: string;
  port: number;
  /** Null unless METRICS_PORT is set. */
  metricsUrl: string | null;
  logged: string[];
  /** Returns the number of requests so far. */
  arrived: () => number;
  close: () => Promise<void>;
};

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function end(server: Server) {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/**
 * The real app on a free port, in front of the stack of this test run. Rate limits are out of the way unless set.
 * @param env environment variables as an operator would set them
 */
export async function startGateway(env: Record<string, string> = {}): Promise<Gateway> {
  const config = loadConfig({ ...environment(), ...env });
  for (const secret of Object.values(config.secrets)) noteSecret(secret);
  const logged: string[] = [];
  const context = createContext(
    config,
    pino({ level: config.logLevel }, { write: (line: string) => logged.push(line) }),
  );
  const server = createHttpServer(config, createApp(context));
  let requests = 0;
  server.on('request', () => requests++);
  const port = await listen(server);
  const metricsServer = context.metrics && createMetricsServer(context.metrics);
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    port,
    metricsUrl: metricsServer && `http://127.0.0.1:${await listen(metricsServer)}/metrics`,
    logged,
    arrived: () => requests,
    close: async () => {
      await end(server);
      if (metricsServer) await end(metricsServer);
      await context.close();
      expectNoSecretIn(logged.join(''));
    },
  };
}
