import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { environment } from '../support/server-process.ts';

// Ends the gateway while nothing reads its log. It exits with code 1 if it is cut off at the end of its grace period.

/** Starts a gateway whose stdout is this: a pipe that the test reads as it likes, or an open file. */
async function start(stdout: 'pipe' | number) {
  const port = await freePort();
  const child = spawn(process.execPath, ['src/server.ts'], {
    env: {
      ...environment(),
      PATH: process.env['PATH'],
      PORT: `${port}`,
    },
    stdio: ['ignore', stdout, 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const origin = `http://127.0.0.1:${port}`;
  await expect
    .poll(() =>
      fetch(`${origin}/healthz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  return { child, origin };
}

async function end(child: ChildProcess) {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
}

async function answers(origin: string, requests: number) {
  const dispatcher = new Agent({ connections: 4 });
  const headers = { 'X-Request-Id': 'x'.repeat(128) };
  for (let sent = 0; sent < requests; sent++) {
    const { statusCode, body } = await request(`${origin}/api/v1/nope`, { dispatcher, headers });
    await body.dump();
    expect(statusCode).toBe(404);
  }
  await dispatcher.close();
}

describe('a gateway answers, and ends within its grace period on SIGTERM, when its stdout', () => {
  test('a pipe whose reader has gone does not stop the gateway', async () => {
    const { child, origin } = await start('pipe');
    child.stdout?.destroy();
    await answers(origin, 20);
    await end(child);
  });

  test('a pipe whose reader goes during the shutdown does not stop it', async () => {
    const { child } = await start('pipe');
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('SIGTERM')) child.stdout?.destroy();
    });
    await end(child);
  });

  test('a full pipe without a reader does not stop the gateway', async () => {
    const { child, origin } = await start('pipe');
    child.stdout?.pause();
    await answers(origin, 1_500); // 600 KB, which is more than a pipe holds
    await end(child);
  });

  test('a file on a full disk does not stop the gateway', async ({ skip }) => {
    skip(!existsSync('/dev/full'), 'This system has no /dev/full.');
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const { child, origin } = await start(full);
    await answers(origin, 20);
    await end(child);
  });
});
