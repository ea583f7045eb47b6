import { cp, mkdtemp, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../test/support/ports.ts';
import { occupy } from '../../../test/support/processes.ts';
import { environment } from '../../../test/support/server-process.ts';
import type { Gateway } from '../gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

let folder: string;
let startGateway: typeof import('../gateway.ts')['startGateway'];
let gateway: Gateway;
let url: string;
const logged: string[] = [];

/** Starts the gateway of the copied checkout. */
async function start(more: Record<string, string> = {}) {
  const PORT = String(await freePort());
  const env = { ...process.env, ...environment(), PORT, LOG_LEVEL: 'warn', ...more };
  return { gateway: startGateway(env, (line) => logged.push(line)), url: `http://127.0.0.1:${PORT}/healthz` };
}

beforeAll(async () => {
  // Copies the checkout, because the tests break its source.
  folder = await mkdtemp(join(tmpdir(), 'sounds-service-checkout-'));
  for (const name of ['src', 'tools', 'supabase', 'package.json'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  ({ startGateway } = await import(pathToFileURL(join(folder, 'tools/dev/gateway.ts')).href));
  ({ gateway, url } = await start());
  await gateway.ready();
});

afterAll(() => gateway?.stop());

/** Saves as git and many editors do: replaces the file by a new one. */
async function replace(file: string, text: string) {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** Options of a poll for a restart, which ends one process and starts another. */
const restart = { timeout: 15_000 };

const health = async () => (await fetch(url).catch(() => undefined))?.json();

test('npm run dev restarts a gateway whose source is replaced, also one that has ended', async () => {
  const file = join(folder, 'src/http/health.ts');
  const source = await readFile(file, 'utf8');
  const changed = 'health.ts changed: restarting the gateway';
  await replace(file, source.replace("status: 'ok'", "status: 'changed'"));
  await expect.poll(() => logged, restart).toEqual([changed]);
  // A restart because of the backup would be logged before that of the next change.
  await writeFile(`${file}~`, 'a backup of an editor');
  await expect.poll(health, restart).toEqual({ status: 'changed' });
  await replace(file, '}');
  const ended = expect.stringMatching(/It restarts when/);
  await expect.poll(() => logged, restart).toEqual([changed, changed, ended]);
  expect(await health()).toBeUndefined();
  await replace(file, source);
  await expect.poll(health, restart).toEqual({ status: 'ok' });
});

test('the gateway of npm run dev is not ready while another program answers at its port', async () => {
  const { port, server } = await occupy();
  server.on('connection', (socket) => {
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
  const { gateway } = await start({ PORT: String(port) });
  onTestFinished(() => gateway.stop());
  await expect(gateway.ready()).rejects.toThrow('The gateway did not start.');
  server.close();
});
