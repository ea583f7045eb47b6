import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/** The example app at an address of its own, which passes /api on to the gateway. */
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
  // Not a server of Vite's own: that would end this process on SIGTERM, before the database.
  const vite = await createServer({
    root: fileURLToPath(new URL('../../examples/player', import.meta.url)),
    cacheDir: join(dataDir, 'vite'),
    logLevel: 'warn',
    server: {
      middlewareMode: true,
      hmr: { server: http },
      proxy: { '/api': `http://127.0.0.1:${gatewayPort}` },
    },
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
