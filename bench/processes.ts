import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../dev/free-port.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** CPU time in microseconds since its start, resident memory in bytes. */
export type Usage = { cpuUs: number; rss: number };

/** A server of the benchmark, in a process of its own. */
export type Process = {
  port: number;
  usage: () => Promise<Usage>;
  /** Resolves when it has ended. */
  stop: () => Promise<void>;
};

type Options = {
  env?: Record<string, string>;
  /** Where its output goes; to ours, unless said. */
  log?: string;
  nodeOptions?: string[];
};

/** Resolves when something listens there. */
async function listens(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    await sleep(5);
  }
  throw new Error(`${child.spawnargs.at(-1)} ended with ${child.exitCode} instead of listening.`);
}

/**
 * Starts a script of ours and waits until it listens on the port that it finds in PORT. It ends with this process,
 * whatever ends this process.
 */
export async function start(
  script: string,
  { env = {}, log, nodeOptions = [] }: Options = {},
): Promise<Process> {
  const port = await freePort();
  const output = log === undefined ? ('inherit' as const) : openSync(log, 'a');
  const child = fork(`${root}${script}`, {
    execArgv: ['--import', new URL('child.mjs', import.meta.url).href, ...nodeOptions],
    env: { PATH: process.env['PATH'], PORT: String(port), ...env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  if (typeof output === 'number') closeSync(output);
  const exited = once(child, 'exit');
  await listens(port, child);
  return {
    port,
    usage: async () => {
      child.send('usage');
      const [{ cpu, rss }] = await once(child, 'message');
      return { cpuUs: cpu.user + cpu.system, rss };
    },
    stop: async () => {
      if (child.connected) child.kill();
      await exited;
    },
  };
}
