import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test as base, describe, expect, inject } from 'vitest';
import { fixture } from '../../../test/support/fixture.ts';
import { freePort } from '../../../test/support/ports.ts';
import { childrenOf, occupy } from '../../../test/support/processes.ts';
import type { Gateway } from '../gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

type Checkout = {
  folder: string;
  /** Starts the gateway of this checkout and collects its log. */
  start: (env?: Record<string, string>) => Promise<{ gateway: Gateway; logged: string[]; url: string }>;
};

/** A checkout of its own for each test, whose source may be broken. */
const test = base.extend<{ checkout: Checkout }>({
  checkout: fixture(async (use) => {
    const folder = await mkdtemp(join(tmpdir(), 'sounds-service-checkout-'));
    for (const name of ['src', 'tools', 'supabase', 'package.json']) {
      await cp(join(root, name), join(folder, name), { recursive: true });
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const { startGateway }: typeof import('../gateway.ts') = await import(
      pathToFileURL(join(folder, 'tools/dev/gateway.ts')).href
    );
    const { apiUrl, publishableKey, secretKey } = inject('stack');
    const started: Gateway[] = [];
    await use({
      folder,
      async start(env = {}) {
        const logged: string[] = [];
        const given = {
          ...process.env,
          PORT: String(await freePort()),
          REQUIRE_HTTPS: 'false',
          SUPABASE_URL: apiUrl,
          SUPABASE_PUBLISHABLE_KEY: publishableKey,
          SUPABASE_SECRET_KEY: secretKey,
          LOG_LEVEL: 'warn',
          ...env,
        };
        const gateway = startGateway(given, (line) => logged.push(line));
        started.push(gateway);
        return { gateway, logged, url: `http://127.0.0.1:${given.PORT}/healthz` };
      },
    });
    await Promise.all(started.map((gateway) => gateway.stop()));
    await rm(folder, { recursive: true });
  }),
});

/** Saves as git and many editors do: a new file takes the place of the old one. */
async function replace(file: string, text: string) {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

const statusAt = async (url: string) => (await fetch(url).catch(() => undefined))?.status;

describe('the gateway of npm run dev', () => {
  test('restarts each time that a source file is replaced, and only then', async ({ checkout }) => {
    const { gateway, logged, url } = await checkout.start();
    await gateway.ready();
    const file = join(checkout.folder, 'src/http/health.ts');
    const source = await readFile(file, 'utf8');
    for (const word of ['once', 'twice', 'thrice']) {
      await writeFile(`${file}~`, 'a backup of an editor');
      await replace(file, source.replace("status: 'ok'", `status: '${word}'`));
      await expect
        .poll(async () => (await fetch(url).catch(() => undefined))?.json())
        .toEqual({ status: word });
    }
    expect(logged).toEqual(Array(3).fill('health.ts changed: restarting the gateway'));
  });

  test('waits for the next change when it ends, by a mistake in a file or by a signal', async ({
    checkout,
  }) => {
    const { gateway, logged, url } = await checkout.start();
    await gateway.ready();
    const file = join(checkout.folder, 'src/routes/home.ts');
    const source = await readFile(file, 'utf8');
    await replace(file, `${source}\n}`);
    await expect.poll(() => logged.at(-1)).toMatch(/It restarts when/);
    expect(await statusAt(url)).toBeUndefined();
    await replace(file, source);
    await expect.poll(() => statusAt(url)).toBe(200);

    const server = childrenOf(process.pid)
      .flatMap(({ pid }) => childrenOf(pid))
      .find(({ command }) => command.endsWith('tools/dev/server.ts'));
    process.kill(server?.pid ?? 0, 'SIGKILL');
    await expect.poll(() => logged.filter((line) => line.includes('It restarts when'))).toHaveLength(2);
    await replace(file, source);
    await expect.poll(() => statusAt(url)).toBe(200);
  });

  test('stops waiting for a gateway that cannot start', async ({ checkout }) => {
    const { gateway } = await checkout.start({ LOG_LEVEL: 'loud' });
    await expect(gateway.ready()).rejects.toThrow('The gateway did not start.');
  });

  test('the gateway does not count as ready while another program answers at its port', async ({
    checkout,
  }) => {
    const { port, server } = await occupy();
    server.on('connection', (socket) => {
      socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
    const { gateway } = await checkout.start({ PORT: String(port) });
    await expect(gateway.ready()).rejects.toThrow('The gateway did not start.');
    server.close();
  });
});
