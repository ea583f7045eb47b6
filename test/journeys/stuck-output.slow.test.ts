import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { environment } from '../support/server-process.ts';

/** Starts a gateway with this output. Resolves when it answers, to the process and a function that sends a request. */
async function startGateway(stdio: StdioOptions, nodeOptions: string[] = []) {
  const port = await freePort();
  const env = { ...environment(), PATH: process.env['PATH'], PORT: `${port}` };
  const child = spawn(process.execPath, [...nodeOptions, 'src/server.ts'], { env, stdio });
  onTestFinished(() => void child.kill('SIGKILL'));
  const dispatcher = new Agent({ connections: 4 });
  const get = async (path: string) => {
    const headers = { 'X-Request-Id': 'x'.repeat(128) };
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { dispatcher, headers });
    await body.dump();
    return statusCode;
  };
  await expect.poll(() => get('/healthz').catch(() => 0)).toBe(200);
  return { child, get, exited: once(child, 'exit'), closeConnections: () => dispatcher.close() };
}

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
    const { child, get, exited, closeConnections } = await startGateway(['ignore', stdout, 'ignore']);
    breakPipe?.(child);
    for (let sent = 0; sent < requests; sent++) expect(await get('/api/v1/nope')).toBe(404);
    await closeConnections();
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]); // the code would be 1 after the grace period
  },
);

test('a gateway writes its log, also to a full pipe, before an unexpected error ends it', async () => {
  const throwOnSignal = `process.on('SIGUSR2', () => { fs.writeSync(2, 'throws'); throw new Error('unexpected'); })`;
  const { child, get, exited } = await startGateway(
    ['ignore', 'pipe', 'pipe'],
    ['--import', `data:text/javascript,import fs from 'node:fs'; ${throwOnSignal}`],
  );
  child.stdout?.pause();
  for (let sent = 0; sent < 500; sent++) expect(await get('/api/v1/nope')).toBe(404);
  child.kill('SIGUSR2');
  await once(child.stderr as Readable, 'data');
  const lastLine = (await text(child.stdout as Readable)).split('\n').at(-2);
  expect(lastLine).toMatch(/"level":60,.*"message":"unexpected"/);
  expect(await exited).toEqual([1, null]);
});
