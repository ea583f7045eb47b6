import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP port that was free on 127.0.0.1 a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Makes sure that ports can be listened on; those that a run killed a moment ago still holds get a second.
 * @param ports by the variable that sets each
 * @throws an Error with a sentence for each that is taken
 */
export async function requireFreePorts(ports: Record<string, number>): Promise<void> {
  let taken = Object.entries(ports);
  for (let waited = 0; waited <= 1000; waited += 100) {
    const free = await Promise.all(taken.map(([, port]) => isFree(port)));
    taken = taken.filter((_, index) => !free[index]);
    if (taken.length === 0) return;
    await sleep(100);
  }
  const sentences = taken.map(
    ([variable, port]) => `Port ${port} is in use by another program; set ${variable} to another one.`,
  );
  throw new Error(sentences.join('\n'));
}

const isFree = async (port: number) => (await canListen(port, '127.0.0.1')) && (await canListen(port));

function canListen(port: number, host?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host }, () => server.close(() => resolve(true)));
  });
}
