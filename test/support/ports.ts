import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const given = new Set<number>();

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/**
 * A port of 127.0.0.1 that is free, and stays so while nothing listens there: it is lower than those that Linux and
 * macOS give to programs which ask for any port, as all other tests do.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}
