import { spawnSync } from 'node:child_process';
import { freePort } from './ports.ts';
import { collect } from './processes.ts';

/** Redis server on this machine, if any. */
const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0);

/** False if no Redis is installed, which is an error in CI. */
export const canRunRedis = binary !== undefined;
if (!canRunRedis && process.env['CI']) throw new Error('redis-server or valkey-server must be installed in CI.');

/** Starts a Redis for a test, without persistence. */
export async function startRedis(port?: number, { args = [] as string[] } = {}) {
  const chosen = port ?? (await freePort());
  // Do not let Redis change its process title, because the clean-up finds processes by their environment.
  const settings = `--port ${chosen} --bind 127.0.0.1 --appendonly no --set-proc-title no --save`.split(' ');
  const { child, exited, until } = collect([...settings, '', ...args], process.env, binary);
  await until(/Ready to accept connections/);
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
