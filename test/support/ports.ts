import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a free port of 127.0.0.1. It stays free for the caller, because it is lower than the ports that Linux and
 * macOS assign to programs that request any port, as all other tests do.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    try {
      // Reserve the port among the workers of the run, which share a temporary folder.
      await writeFile(join(tmpdir(), `port-${port}`), '', { flag: 'wx' });
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch {
      // The port is in use, so try another one.
    }
  }
}
