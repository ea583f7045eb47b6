import type { Server } from 'node:http';
import type { Express } from 'express';
import type { Context } from '../context.ts';
import { logWritten } from '../shared/logger.ts';
import { createMetricsServer } from '../shared/metrics.ts';
import { createHttpServer } from './http-server.ts';
import { shutDownOnSignals } from './shutdown.ts';

/** Serves the app, and the metrics if METRICS_PORT is set, until the process gets a signal. */
export function serve(context: Context, app: Express): void {
  const { config, log, metrics } = context;
  const { host, port, metricsPort } = config;
  const server = createHttpServer(config, app);
  for (const name of config.unknownVariables)
    log.warn(`${name} is set but not read. .env.example lists all variables.`);

  function listen(listener: Server, port: number, variable: string, doing: string) {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} is in use. Set ${variable} to another one.`,
      EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one that it has.`,
      EACCES: `This process may not listen on port ${port}. Set ${variable} to one above 1023.`,
    };
    listener.once('error', (error: NodeJS.ErrnoException) => {
      process.stderr.write(`${reasons[error.code ?? ''] ?? error.message}\n`);
      process.exit(1);
    });
    listener.listen(port, host, () => log.info({ address: listener.address() }, `${doing} on port ${port}`));
  }
  listen(server, port, 'PORT', 'Listening');
  server.once('listening', () => {
    void context.checkReadiness(); // logs wrong keys at once
    if (config.requireHttps && config.trustProxy === false)
      log.warn(
        'Every request will be rejected, because REQUIRE_HTTPS is true and no proxy is trusted. Set TRUST_PROXY.',
      );
  });
  if (metrics && metricsPort !== null)
    listen(createMetricsServer(metrics), metricsPort, 'METRICS_PORT', 'Serving metrics');

  shutDownOnSignals(context, server);
  process.once('uncaughtException', async (error) => {
    log.fatal({ err: error }, 'The process ends because of an unexpected error');
    await logWritten();
    process.exit(1);
  });
}
