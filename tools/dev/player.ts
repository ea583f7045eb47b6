import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/** Serves the example app at its own port, and forwards /api to the gateway. */
export interface Player {
  stop(): Promise<void>;
}

export async function startPlayer({
  port,
  gatewayPort,
  dataDir,
}: {
  port: number;
  gatewayPort: number;
  dataDir: string;
}): Promise<Player> {
  const http = createHttpServer();
  // Vite's own server would end this process on SIGTERM, before the database stops.
  const vite = await createServer({
    root: fileURLToPath(new URL('../../examples/player', import.meta.url)),
    cacheDir: join(dataDir, 'vite'),
    logLevel: 'warn',
    server: { middlewareMode: true, hmr: { server: http }, proxy: { '/api': `http://127.0.0.1:${gatewayPort}` } },
  });
  http.on('request', vite.middlewares).listen(port, '127.0.0.1');
  await once(http, 'listening');
  return {
    async stop() {
      await vite.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
