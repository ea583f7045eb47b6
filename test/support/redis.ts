import { freePort } from './ports.ts';
import { collect } from './processes.ts';
import { pathOf } from './tools.ts';

/** Starts a Redis for a test with the tag `redis`, without persistence. */
export async function startRedis(port?: number, { args = [] as string[] } = {}) {
  const chosen = port ?? (await freePort());
  // Keep the process title: Redis would write it over the environment, by which test/setup/stack.ts finds processes.
  const settings = `--port ${chosen} --bind 127.0.0.1 --appendonly no --set-proc-title no --save`.split(' ');
  const { child, exited, until } = collect([...settings, '', ...args], process.env, pathOf('redis'));
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
