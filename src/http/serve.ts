import type { Server } from 'node:http';
import type { Express } from 'express';
import type { Context } from '../context.ts';
import { createMetricsServer } from '../metrics.ts';
import { createHttpServer } from './http-server.ts';
import { shutDownOnSignals } from './shutdown.ts';

function listen(listener: Server, host: string | undefined, port: number, variable: string, listening: () => void) {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use. Set ${variable} to another one.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one that it has.`,
    EACCES: `This process may not listen on port ${port}. Set ${variable} to one above 1023.`,
  };
  listener.once('error', (error: NodeJS.ErrnoException) => {
    process.stderr.write(`${reasons[error.code ?? ''] ?? error.message}\n`);
    process.exit(1);
  });
  listener.listen(port, host, listening);
}

/** Serves the app, and the metrics if METRICS_PORT is set, until the process gets a signal. */
export function serve(context: Context, app: Express): void {
  const { config, log } = context;
  const server = createHttpServer(config, app);
  for (const { name, meant } of config.unknownVariables)
    log.warn(`${name} is set but not read.${meant === null ? '' : ` Did you mean ${meant}?`}`);

  listen(server, config.host, config.port, 'PORT', () => {
    log.info({ address: server.address() }, `Listening on port ${config.port}`);
    void context.checkReadiness(); // logs wrong keys at once
    if (config.requireHttps && config.trustProxy === false)
      log.warn(
        'Every request will be rejected, because REQUIRE_HTTPS is true and no proxy is trusted. Set TRUST_PROXY.',
      );
  });

  if (context.metrics !== null && config.metricsPort !== null) {
    const { metricsPort } = config;
    const metricsServer = createMetricsServer(context.metrics);
    listen(metricsServer, config.host, metricsPort, 'METRICS_PORT', () => {
      log.info({ address: metricsServer.address() }, `Serving metrics on port ${metricsPort}`);
    });
  }

  shutDownOnSignals(context, server);
  process.once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'The process ends because of an unexpected error');
    process.exit(1);
  });
}
