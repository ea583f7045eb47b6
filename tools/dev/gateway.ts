import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { watch } from 'chokidar';
import { type SupervisedChild, spawnSupervised } from 'local-supabase/supervised-child';
import { prettyLog } from './log.ts';

/** The gateway as a child process that restarts whenever its source changes. */
export interface Gateway {
  /**
   * Settles when /readyz says that the gateway and everything behind it is up.
   * @throws an Error when the gateway ends instead; it has then said why on stderr
   */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

// One save may be several events.
const SETTLE_MS = 100;

// What editors and git put beside a file for a moment is no source.
const SOURCE = /^\w.*\.ts$/;

/**
 * Starts the gateway and keeps it running the latest source. One that was ready and ends by itself, on a syntax error
 * say, waits for the next change.
 * @param env its whole environment; PORT is where it is asked whether it is ready
 */
export function startGateway(env: NodeJS.ProcessEnv, log: (line: string) => void): Gateway {
  const output = prettyLog();
  let ended = false;
  let wasReady = false;
  let running: SupervisedChild | undefined = start();
  let restarting = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function start(): SupervisedChild {
    ended = false;
    const child = spawnSupervised(process.execPath, ['tools/dev/server.ts'], 'TERM', {
      cwd: root,
      env,
      stdout: 'pipe',
    });
    child.process.stdout?.pipe(output, { end: false });
    const { stderr } = child.process;
    if (stderr) createInterface({ input: stderr }).on('line', (line) => console.error(line));
    // Not at its exit: what it said last must have been printed.
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

  const watcher = watch(`${root}src`, { ignoreInitial: true }).on('all', (_event, path) => {
    const file = basename(path);
    if (!SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      restarting = restarting.then(async () => {
        log(`${file} changed: restarting the gateway`);
        await stop();
        running = start();
      });
    }, SETTLE_MS);
  });

  return {
    async ready() {
      while (!(await isReady(env['PORT']))) {
        if (ended) throw new Error('The gateway did not start.');
        await sleep(SETTLE_MS);
      }
      wasReady = true;
    },
    async stop() {
      await watcher.close();
      clearTimeout(timer);
      await restarting;
      await stop();
    },
  };
}

/** Whether the gateway answers there, and is ready; it sends a request's id back, as other programs would not. */
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
