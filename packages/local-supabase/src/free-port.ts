import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns a TCP port that was free on 127.0.0.1 a moment ago. */
export async function freePort(): Promise<number> {
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/**
 * Waits up to 1 s until all ports are free, because a process that was just killed may still use some.
 * @param ports ports by the variable that sets each
 * @throws an Error with a sentence for each port that is in use
 */
export async function requireFreePorts(ports: Record<string, number>): Promise<void> {
  for (let waited = 0; ; waited += 100) {
    const problems = await Promise.all(Object.entries(ports).map(portProblem));
    const sentences = problems.filter((problem) => problem !== undefined);
    if (sentences.length === 0) return;
    if (waited === 1000) throw new Error(sentences.join('\n'));
    await sleep(100);
  }
}

async function portProblem([variable, port]: [string, number]): Promise<string | undefined> {
  const code = (await listenError(port, '127.0.0.1')) ?? (await listenError(port));
  if (code === 'EACCES') return `Port ${port} needs root; set ${variable} to 1024 or above.`;
  return code && `Port ${port} is in use by another program; set ${variable} to another one.`;
}

function listenError(port: number, host?: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ port, host }, () => server.close(() => resolve(undefined)));
  });
}
