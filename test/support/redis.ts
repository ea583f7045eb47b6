import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './ports.ts';

/** The Redis server on this machine, if there is one. */
const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);

/** False where no Redis is installed, which is an error in CI. */
export const canRunRedis = binary !== undefined;
if (!canRunRedis && process.env['CI'])
  throw new Error('redis-server or valkey-server must be installed in CI.');

/** Starts a Redis for a test, without persistence. */
export async function startRedis(port?: number, { args: more = [] as string[] } = {}) {
  const chosen = port ?? (await freePort());
  const args = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  // A process that renames itself hides its environment, by which what a killed run leaves behind is found.
  args.push('--set-proc-title', 'no');
  args.push(...more);
  const child: ChildProcess = spawn(binary ?? '', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve();
    });
    void exited.then(() => reject(new Error(`Redis did not start: ${said}`)));
  });
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => child.kill(name),
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
