import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'vitest';
import { freePort } from '../support/ports.ts';

/** True if Caddy is installed. CI requires it. */
export const canRunCaddy = spawnSync('caddy', ['version']).status === 0;
if (!canRunCaddy && process.env['CI']) throw new Error('caddy must be installed in CI.');

/** Returns whether a TLS handshake succeeds, which needs Caddy's certificate. */
const acceptsTls = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, servername: 'localhost', rejectUnauthorized: false });
    socket
      .on('error', () => resolve(false))
      .on('secureConnect', () => {
        resolve(true);
        socket.destroy();
      });
  });

/**
 * Runs ops/Caddyfile with a self-signed certificate, in front of two local ports instead of the containers.
 * @param changes texts to replace in the file
 */
export async function startCaddy(
  gatewayPorts: readonly [number, number],
  changes: Record<string, string> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'sounds-service-caddy-'));
  const configuration = join(folder, 'Caddyfile');
  let delivered = await readFile('ops/Caddyfile', 'utf8');
  const forTests = {
    'gateway-a:3000 gateway-b:3000': gatewayPorts.map((port) => `127.0.0.1:${port}`).join(' '),
    '{\n\tservers {': '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tservers {',
    ...changes,
  };
  for (const [text, changed] of Object.entries(forTests)) {
    expect(delivered).toContain(text);
    delivered = delivered.replace(text, changed);
  }
  await writeFile(configuration, delivered);

  const port = await freePort();
  const accessLog = join(folder, 'access.log');
  const child = spawn('caddy', ['run', '--config', configuration, '--adapter', 'caddyfile'], {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      SITE_ADDRESS: `https://localhost:${port}`,
      ACCESS_LOG: accessLog,
    },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await expect.poll(() => acceptsTls(port)).toBe(true);
  return {
    url: `https://localhost:${port}/api/v1`,
    accessLog,
    stop: async () => {
      child.kill();
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}
