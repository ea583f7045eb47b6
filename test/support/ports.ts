import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A port of 127.0.0.1 that is free, and stays so while nothing listens there: it is lower than those that Linux and
 * macOS give to programs which ask for any port, as all other tests do.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    try {
      // Reserves it among the workers of the run, which share a temporary folder.
      await writeFile(join(tmpdir(), `port-${port}`), '', { flag: 'wx' });
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch {
      // It is taken.
    }
  }
}
