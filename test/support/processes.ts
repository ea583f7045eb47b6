import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freePort } from './ports.ts';

const isLinux = process.platform === 'linux';

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** Reads /proc, because a minimal Debian has no `ps`. Leaves out processes that end meanwhile. */
function processesOfLinux(): Process[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    try {
      const parent = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      return { pid, parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() };
    } catch {
      return [];
    }
  });
}

function processesOfPs(): Process[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parent, ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), command: command.join(' ') };
  });
}

const processes = isLinux ? processesOfLinux : processesOfPs;

/** Returns the processes with `text` in their command line. */
const processesNaming = (text: string) => processes().filter(({ command }) => command.includes(text));

/** Returns the resident memory of a process in MB. */
export function residentMb(pid: number | undefined) {
  const kilobytes = isLinux
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kilobytes) / 1024;
}

export const childrenOf = (pid: number) => processes().filter(({ parent }) => parent === pid);

/** Waits until no process has `text` in its command line. */
export const untilGone = (text: string) => expect.poll(() => processesNaming(text)).toEqual([]);

/** Returns the process id of the server on a data folder of startPostgres. */
export const serverPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'cluster/postmaster.pid'), 'utf8'), 10);

/** Listens on a port of 127.0.0.1. Default: any free port. */
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
  /** Settles when the program and all processes that share its output have ended. */
  const exited = once(child, 'close') as Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  /** Settles when stdout contains a match. Rejects if the program ends before that. */
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(output.stdout);
        if (found) resolve(found);
      };
      child.stdout.on('data', look);
      look();
      void exited.then(([code]) => reject(new Error(`Program ended with ${code}: ${output.stdout}${output.stderr}`)));
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
    /** Settles when stdout contains `text`. Rejects if the program ends before that. */
    until: async (text: string) => void (await until(new RegExp(RegExp.escape(text)))),
  };
}

const portVariables = ['PORT', 'PLAYER_PORT', 'SUPABASE_PORT', 'SUPABASE_DB_PORT'] as const;

/** Returns variables that make `npm run dev` use free ports and this folder. */
export async function devEnvironment(DEV_DATA_DIR: string) {
  const ports = await Promise.all(portVariables.map(async (name) => [name, String(await freePort())] as const));
  return { DEV_DATA_DIR, ...(Object.fromEntries(ports) as Record<(typeof portVariables)[number], string>) };
}

/** Starts the program of `npm run dev`. Resolves when it is ready. */
export async function startDev(env: Record<string, string>, ...args: string[]) {
  const dev = run(['tools/dev/main.ts', ...args], env);
  await dev.until('Ctrl-C stops everything.');
  return dev;
}
