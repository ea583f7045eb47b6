import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pretty from 'pino-pretty';
import { type Leashed, spawnLeashed } from './leash.ts';

/** The gateway as a child process that starts again whenever its source changes. */
export interface Gateway {
  /** Settles when /readyz says that the gateway and everything behind it is up. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));

// One save may be several events.
const SETTLE_MS = 100;

/**
 * Starts the gateway and keeps it running the latest source. One that ends by itself, on a syntax error say, waits for
 * the next change.
 * @param env its whole environment; PORT is where it is asked whether it is ready
 */
export function startGateway(env: NodeJS.ProcessEnv, log: (line: string) => void): Gateway {
  const output = pretty({ ignore: 'pid,hostname', singleLine: true });
  let running: Leashed | undefined = start();
  let restarting = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function start(): Leashed {
    const child = spawnLeashed(process.execPath, ['src/server.ts'], 'TERM', {
      cwd: root,
      env,
      stdout: 'pipe',
      stderr: 'inherit',
    });
    child.process.stdout?.pipe(output, { end: false });
    void child.exited.then(() => {
      if (child === running) log('The gateway has ended. It starts again when a file in src changes.');
    });
    return child;
  }

  async function stop(): Promise<void> {
    const child = running;
    running = undefined;
    await child?.stop();
  }

  const watcher = watch(`${root}src`, { recursive: true }, (_event, file) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      restarting = restarting.then(async () => {
        log(`${file} has changed: starting the gateway again`);
        await stop();
        running = start();
      });
    }, SETTLE_MS);
  });

  return {
    async ready() {
      const address = `http://127.0.0.1:${env['PORT']}/readyz`;
      while (!(await isReady(address))) await sleep(SETTLE_MS);
    },
    async stop() {
      watcher.close();
      clearTimeout(timer);
      await restarting;
      await stop();
    },
  };
}

async function isReady(address: string): Promise<boolean> {
  try {
    const response = await fetch(address);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
