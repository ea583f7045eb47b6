import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Reserves a port among the workers of the run, which share a temporary folder. @returns whether it was free */
async function isOurs(port: number): Promise<boolean> {
  try {
    await (await open(join(tmpdir(), `port-${port}`), 'wx')).close();
    return true;
  } catch {
    return false;
  }
}

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
    if ((await isOurs(port)) && (await isFree(port))) return port;
  }
}
