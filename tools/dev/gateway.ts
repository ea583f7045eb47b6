import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type SupervisedChild, spawnSupervised } from '@sounds-service/local-supabase/supervised-child';
import { watch } from 'chokidar';
import { prettyLog } from './log.ts';

/** Child process of the gateway. Restarts when its source changes. */
export interface Gateway {
  /**
   * Resolves when /readyz answers 200.
   * @throws an Error if the gateway ends instead; its stderr has the reason
   */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

// One save can cause several events.
const settleMs = 100;

// Ignores temporary files of editors and git.
const sourceFile = /^\w.*\.ts$/;

/** Starts the process of the gateway, whose output is printed. */
function spawnGateway(env: NodeJS.ProcessEnv, output: NodeJS.WritableStream): SupervisedChild {
  const child = spawnSupervised(process.execPath, ['tools/dev/server.ts'], 'TERM', { cwd: root, env, stdout: 'pipe' });
  child.process.stdout?.pipe(output, { end: false });
  const { stderr } = child.process;
  if (stderr) createInterface({ input: stderr }).on('line', (line) => console.error(line));
  return child;
}

/**
 * Reports changes of the source, once for several at the same time.
 * @param changed receives the name of the file that changed last
 * @returns a function that stops it
 */
function watchSource(changed: (file: string) => void): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(`${root}src`, { ignoreInitial: true }).on('all', (_event, path) => {
    const file = basename(path);
    if (!sourceFile.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed(file), settleMs);
  });
  return async () => {
    await watcher.close();
    clearTimeout(timer);
  };
}

/**
 * Starts the gateway, and restarts it on each change of its source, even if it has ended because of a syntax error.
 * @param env its whole environment, with PORT
 */
export function startGateway(env: NodeJS.ProcessEnv, log: (line: string) => void): Gateway {
  const output = prettyLog();
  let ended = false;
  let wasReady = false;
  let running: SupervisedChild | undefined = start();
  let restarting = Promise.resolve();

  function start(): SupervisedChild {
    ended = false;
    const child = spawnGateway(env, output);
    // Waits for `close` instead of `exit`, so that its last output is printed.
    child.process.once('close', () => {
      if (child !== running) return;
      ended = true;
      if (wasReady) log('The gateway has stopped. It restarts when a file in src changes.');
    });
    return child;
  }

  async function stop(): Promise<void> {
    const child = running;
    running = undefined;
    await child?.stop();
  }

  const stopWatching = watchSource((file) => {
    restarting = restarting.then(async () => {
      log(`${file} changed: restarting the gateway`);
      await stop();
      running = start();
    });
  });

  return {
    async ready() {
      while (!(await isReady(env['PORT']))) {
        if (ended) throw new Error('The gateway did not start.');
        await sleep(settleMs);
      }
      wasReady = true;
    },
    async stop() {
      await stopWatching();
      await restarting;
      await stop();
    },
  };
}

/** Tells whether the gateway at a port is ready. Its X-Request-Id distinguishes it from other programs. */
async function isReady(port: string | undefined): Promise<boolean> {
  const id = randomUUID();
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { 'X-Request-Id': id } });
    await response.body?.cancel();
    return response.ok && response.headers.get('x-request-id') === id;
  } catch {
    return false;
  }
}
