import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from 'local-supabase/free-port';
import { LOCAL_KEYS } from 'local-supabase/keys';

const root = fileURLToPath(new URL('../..', import.meta.url));

const settings = {
  SUPABASE_PUBLISHABLE_KEY: LOCAL_KEYS.publishableKey,
  SUPABASE_SECRET_KEY: LOCAL_KEYS.secretKey,
  SUPABASE_JWT_SECRET: LOCAL_KEYS.jwtSecret,
  REQUIRE_HTTPS: 'false',
  RATE_LIMIT_PER_MINUTE: '1000000',
  METRICS_PORT: '0',
};

/**
 * Starts a script of this repository as a process that ends with this one, its log thrown away, and resolves when it
 * listens.
 * @param supabase what it has for a Supabase
 */
export async function start(script: string, supabase?: { url: string }) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = fork(root + script, {
    execArgv: ['--import', `${root}tools/bench/child.mjs`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...settings, PATH: process.env['PATH'], PORT: String(port), SUPABASE_URL: supabase?.url },
  });
  const exited = once(child, 'exit');
  while (!(await fetch(url).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`${script} ended instead of listening.`);
    await sleep(5);
  }
  return {
    url,
    /** The processor time that it has taken so far, in seconds, and its highest resident memory, in bytes. */
    async used() {
      child.send('usage');
      const [{ userCPUTime, systemCPUTime, maxRSS }] = (await once(child, 'message')) as [
        NodeJS.ResourceUsage,
      ];
      return { processorSeconds: (userCPUTime + systemCPUTime) / 1e6, peakMemory: maxRSS * 1024 };
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

export type Server = Awaited<ReturnType<typeof start>>;
