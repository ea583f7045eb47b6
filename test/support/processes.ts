import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freePort } from './ports.ts';

const processes = () =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parent, ...command] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), command: command.join(' ') };
    });

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
export async function occupy(port = 0) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, server };
}

/** Runs a program in the root of this repository, and collects its output. */
export function collect(args: string[], env: NodeJS.ProcessEnv, program = process.execPath) {
  const child = spawn(program, args, { cwd: fileURLToPath(new URL('../..', import.meta.url)), env });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  /** Settles when the program has ended, and with it everything that shares its output. */
  const exited = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  /** Settles when the program has written a match to stdout; fails when it ends without. */
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output.stdout);
        if (found) resolve(found);
      };
      child.stdout.on('data', look);
      look();
      void exited.then(([code]) => reject(new Error(`It ended with ${code}: ${output.stdout}${output.stderr}`)));
    });
  return { child, output, exited, until };
}

/** Runs a program of this repository, or npm, in the environment of this process. */
export function run(args: string[], env: Record<string, string> = {}, program = process.execPath) {
  const { child, output, exited, until } = collect(args, { ...process.env, ...env }, program);
  return {
    pid: child.pid as number,
    output,
    exited: exited.then(([code]) => code),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    type: (text: string) => child.stdin.write(text),
    /** Settles when the program has written `text` to stdout; fails when it ends without. */
    until: async (text: string) => void (await until(new RegExp(RegExp.escape(text)))),
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
