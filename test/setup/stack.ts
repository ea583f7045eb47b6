import { spawn } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import { startStack } from 'local-supabase/stack';
import type { TestProject } from 'vitest/node';
import { prepareClusters, preparedFolder } from '../support/prepared.ts';
import { givenStack, type TestStack } from './given-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: TestStack;
  }
}

// Begins when the pipe closes that we hold. Processes of a killed run, which name the folder in their environment or arguments,
// have seven seconds to end. A killed test may have left a folder that cannot be entered.
const CLEAN_UP_AFTER_US = `
  read -r _
  left() { ps axeww -o pid=,args= | grep -F "$1" | grep -vE 'clean-up-after|grep -F' | while read -r pid _; do echo "$pid"; done; }
  closed=$(date +%s)
  while [ -n "$(left "$1")" ] && [ $(date +%s) -lt $((closed + 7)) ]; do sleep 0.1; done
  kill -9 $(left "$1")
  while [ $(date +%s) -lt $((closed + 10)) ]; do
    chmod -R u+rwX "$1"
    rm -rf "$1" && exit
    sleep 0.1
  done`;

/** Makes a folder for everything temporary of this run; it is removed when the run ends, even when it is killed. */
async function makeRunFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-test-'));
  // If the tests run as root, Postgres runs as another account, which must be able to enter.
  await chmod(folder, 0o711);
  const args = ['-c', CLEAN_UP_AFTER_US, 'clean-up-after', folder];
  spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }).unref();
  return folder;
}

/** Keeps what this process, the Supabase of the run, writes about the errors that tests provoke. @returns what prints it */
function collectErrors(): () => void {
  const { error } = console;
  const errors: string[] = [];
  console.error = (...args) => errors.push(format(...args));
  return () => {
    console.error = error;
    for (const text of errors) console.error(text);
  };
}

/** One stack for the whole run: the one named by TEST_SUPABASE_URL and its keys, or a new embedded one. */
export default async function setup(project: TestProject) {
  const { env } = process;
  // The workers, and what they start, put theirs there as well.
  env['TMPDIR'] = await makeRunFolder();
  // The same files are loaded by hundreds of processes.
  env['NODE_COMPILE_CACHE'] = join(env['TMPDIR'], 'compiled');
  // The contract suite against a deployment needs nothing but HTTP.
  if (env['TEST_BASE_URL']) return undefined;
  await prepareClusters();
  if (env['TEST_SUPABASE_URL']) {
    project.provide('stack', await givenStack(env));
    return undefined;
  }

  const showErrors = collectErrors();
  env['LITE_AUTH_BCRYPT_COST'] = '4'; // hashing passwords is most of the time of a sign-up
  const dataDir = await preparedFolder();
  const stack = await startStack({ dataDir, apiPort: 0, databasePort: 0, durable: false });
  const { apiUrl, databaseUrl, publishableKey, secretKey } = stack;
  const keys = { publishableKey, secretKey, jwtSecret: '', forging: 'ES256' } as const;
  const urls = { apiUrl, mailUrl: apiUrl, confirmingUrl: '', databaseUrl };
  project.provide('stack', { ...urls, ...keys, embedded: true });
  return async () => {
    await stack.stop();
    if (project.vitest.state.getCountOfFailedTests() > 0) showErrors();
  };
}
