import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { startGateway } from '../../../test/support/gateway.ts';
import { freePort } from '../../../test/support/ports.ts';
import { bundleClient } from './bundle.ts';

/**
 * Serves an empty page and the client, beside a gateway that allows their origin, for one test.
 * @param input a module to serve in the place of the client
 */
export async function serveClient(input?: string) {
  const module = await bundleClient(input);
  const server = createServer((request, response) => {
    const isModule = request.url === '/client.js';
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? module : '<!doctype html><title>An app</title><link rel="icon" href="data:,">');
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${port}`;
  const gateway = await startGateway({ CORS_ORIGINS: origin });
  onTestFinished(gateway.close);
  return { origin, gateway };
}
