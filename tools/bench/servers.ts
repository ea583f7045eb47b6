import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@sounds-service/local-supabase/free-port';
import { localKeys } from '@sounds-service/local-supabase/keys';

const root = fileURLToPath(new URL('../..', import.meta.url));

const settings = {
  SUPABASE_PUBLISHABLE_KEY: localKeys.publishableKey,
  SUPABASE_SECRET_KEY: localKeys.secretKey,
  SUPABASE_JWT_SECRET: localKeys.jwtSecret,
  REQUIRE_HTTPS: 'false',
  RATE_LIMIT_PER_MINUTE: '1000000',
  METRICS_PORT: '0',
};

/**
 * Starts a script of this repository as a process, and resolves when it listens.
 * @param supabase the Supabase that it calls
 */
export async function start(script: string, supabase?: { url: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-bench-'));
  const log = join(folder, 'log');
  await using output = await open(log, 'w');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = fork(root + script, {
    execArgv: ['--import', `${root}tools/bench/child.mjs`],
    stdio: ['ignore', output.fd, 'inherit', 'ipc'],
    env: { ...settings, PATH: process.env['PATH'], PORT: String(port), SUPABASE_URL: supabase?.url },
  });
  const exited = once(child, 'exit');
  while (!(await fetch(`${url}/calls`).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`${script} ended instead of listening.`);
    await sleep(5);
  }
  return {
    url,
    /** Returns the processor time used so far, in seconds. */
    async processorSeconds(): Promise<number> {
      child.send('usage');
      const [{ userCPUTime, systemCPUTime }] = (await once(child, 'message')) as [NodeJS.ResourceUsage];
      return (userCPUTime + systemCPUTime) / 1e6;
    },
    /** Stops the server. @throws if it logged a warning or an error, because its figures are then wrong */
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      const lines = (await readFile(log, 'utf8')).split('\n');
      await rm(folder, { recursive: true });
      const warning = lines.find((line) => /"level":[456]0/.test(line));
      if (warning !== undefined) throw new Error(`${script} logged a warning: ${warning}`);
    },
  };
}

export type Server = Awaited<ReturnType<typeof start>>;
