import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freePort } from './ports.ts';

type Process = { pid: number; parent: number; command: string };

function processes(): Process[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parent, ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), command: command.join(' ') };
  });
}

/** Everything that runs with `text` in its command line. */
export const processesNaming = (text: string) => processes().filter(({ command }) => command.includes(text));

/** Returns the running children of a process. */
export const childrenOf = (pid: number) => processes().filter(({ parent }) => parent === pid);

/** Waits until nothing runs any more with `text` in its command line. */
export const untilGone = (text: string) => expect.poll(() => processesNaming(text)).toEqual([]);

/** The number of the server process on a data folder of startPostgres. */
export const serverPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'cluster/postmaster.pid'), 'utf8'), 10);

/** Listens on a port of 127.0.0.1, any free one by default. */
export async function occupy(port = 0): Promise<{ port: number; server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { port: (server.address() as { port: number }).port, server };
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program of this repository, or npm, and collects its output. */
export function run(args: string[], env: Record<string, string> = {}, program = process.execPath) {
  const child = spawn(program, args, { cwd: root, env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const look of waiting) look();
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    pid: child.pid as number,
    output,
    /** Settles when the program has ended, and with it everything that shares its output. */
    exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    type: (text: string) => child.stdin.write(text),
    /** Settles when the program has written `text` to stdout; fails when it ends without. */
    until: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => output.stdout.includes(text) && resolve();
        waiting.add(look);
        look();
        void exited.then((code) =>
          reject(new Error(`It ended with ${code}: ${output.stdout}${output.stderr}`)),
        );
      }),
  };
}

const PORTS = ['PORT', 'PLAYER_PORT', 'SUPABASE_PORT', 'SUPABASE_DB_PORT'] as const;

/** Tells `npm run dev` to use ports that are free, and this folder. */
export async function devEnvironment(DEV_DATA_DIR: string) {
  const ports = await Promise.all(PORTS.map(async (name) => [name, String(await freePort())] as const));
  return { DEV_DATA_DIR, ...(Object.fromEntries(ports) as Record<(typeof PORTS)[number], string>) };
}

/** Starts what `npm run dev` runs; resolves when everything is ready. */
export async function startDev(env: Record<string, string>, ...args: string[]) {
  const dev = run(['tools/dev/main.ts', ...args], env);
  await dev.until('Ctrl-C stops everything.');
  return dev;
}
