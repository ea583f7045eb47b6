import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { environment } from '../support/server-process.ts';

test.for([
  ['a pipe whose reader has gone', 20, ({ stdout }: ChildProcess) => stdout?.destroy()],
  // The output is 200 KB, which is more than a pipe holds.
  ['a full pipe without a reader', 500, ({ stdout }: ChildProcess) => stdout?.pause()],
  ['a file on a full disk', 20, undefined],
] as const)(
  'a gateway answers requests and stops on SIGTERM if its stdout is %s',
  async ([, requests, breakPipe], { skip }) => {
    let stdout: 'pipe' | number = 'pipe';
    if (breakPipe === undefined) {
      skip(!existsSync('/dev/full'), 'This system has no /dev/full.');
      const full = openSync('/dev/full', 'w');
      onTestFinished(() => closeSync(full));
      stdout = full;
    }
    const port = await freePort();
    const child = spawn(process.execPath, ['src/server.ts'], {
      env: { ...environment(), PATH: process.env['PATH'], PORT: `${port}` },
      stdio: ['ignore', stdout, 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const dispatcher = new Agent({ connections: 4 });
    const get = async (path: string) => {
      const headers = { 'X-Request-Id': 'x'.repeat(128) };
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { dispatcher, headers });
      await body.dump();
      return statusCode;
    };
    await expect.poll(() => get('/healthz').catch(() => 0)).toBe(200);
    breakPipe?.(child);
    for (let sent = 0; sent < requests; sent++) expect(await get('/api/v1/nope')).toBe(404);
    await dispatcher.close();
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]); // the code would be 1 after the grace period
  },
);
