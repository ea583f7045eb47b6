import { spawn } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import { startStack } from '@sounds-service/local-supabase/stack';
import type { TestProject } from 'vitest/node';
import { prepareCluster, preparedFolder } from '../support/prepared.ts';
import { givenStack, type TestStack } from './given-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

// Cleans up when the pipe from this process closes. Processes with the folder in their environment or arguments have
// seven seconds to end. All folders get new modes, because a killed test may have left one that cannot be entered.
const cleanUpScript = `
  read -r _
  of_proc() { echo "$1" | grep -lsaF -f - /proc/[0-9]*/cmdline /proc/[0-9]*/environ | cut -d / -f 3; }
  of_ps() { ps axeww -o pid=,args= | grep -F "$1" | grep -v 'grep -F' | while read -r pid _; do echo "$pid"; done; }
  is_clean_up() { if [ -d /proc/self ]; then grep -qsa clean-up-after "/proc/$1/cmdline"; else ps -o args= -p "$1" | grep -q clean-up-after; fi; }
  left() { if [ -d /proc/self ]; then of_proc "$1"; else of_ps "$1"; fi | while read -r pid; do is_clean_up "$pid" || echo "$pid"; done; }
  closed=$(date +%s)
  while [ -n "$(left "$1")" ] && [ $(date +%s) -lt $((closed + 7)) ]; do sleep 0.1; done
  kill -9 $(left "$1")
  while [ $(date +%s) -lt $((closed + 10)) ]; do
    chmod -R u+rwX "$1"
    rm -rf "$1" && exit
    sleep 0.1
  done`;

/** Makes a folder for all temporary files of this run. It is removed when the run ends, even if it is killed. */
async function makeRunFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-test-'));
  // Let the account that runs Postgres for root enter the folder.
  await chmod(folder, 0o711);
  const args = ['-c', cleanUpScript, 'clean-up-after', folder];
  spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }).unref();
  return folder;
}

/** Collects the errors that tests provoke in the Supabase of the run. @returns a function that prints them */
function collectErrors(): () => void {
  const { error } = console;
  const errors: string[] = [];
  console.error = (...args) => errors.push(format(...args));
  return () => {
    console.error = error;
    for (const text of errors) console.error(text);
  };
}

/** Provides one stack for the whole run: the stack of TEST_SUPABASE_URL, or a new embedded one. */
export default async function setup(project: TestProject) {
  const { env } = process;
  // Workers and their child processes inherit this folder for temporary files.
  env['TMPDIR'] = await makeRunFolder();
  // Share a compile cache, because hundreds of processes load the same files.
  env['NODE_COMPILE_CACHE'] = join(env['TMPDIR'], 'compiled');
  // The contract suite needs no stack if it runs against a deployment.
  if (env['TEST_BASE_URL']) return undefined;
  await prepareCluster();
  if (env['TEST_SUPABASE_URL']) {
    project.provide('stack', await givenStack(env));
    return undefined;
  }

  const showErrors = collectErrors();
  env['LITE_AUTH_BCRYPT_COST'] = '4'; // makes sign-ups faster
  const dataDir = await preparedFolder();
  const stack = await startStack({ dataDir, apiPort: 0, databasePort: 0, durable: false, guests: true });
  const { apiUrl, databaseUrl, publishableKey, secretKey } = stack;
  const keys = { publishableKey, secretKey, jwtSecret: '', forging: 'ES256' } as const;
  const urls = { apiUrl, mailUrl: apiUrl, confirmingUrl: '', databaseUrl };
  project.provide('stack', { ...urls, ...keys, embedded: true });
  return async () => {
    await stack.stop();
    if (project.vitest.state.getCountOfFailedTests() > 0) showErrors();
  };
}
