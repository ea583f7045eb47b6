import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import request from 'supertest';
import { expect, test } from 'vitest';
import { listen } from './support/gateway.ts';
import { run } from './support/processes.ts';
import { environment, startListening, startServer } from './support/server-process.ts';

test('npm start stops on a SIGTERM that only npm receives', async () => {
  const npm = run(['start'], environment(), 'npm');
  await npm.until('Listening');
  npm.kill('SIGTERM');
  await npm.exited;
  expect(npm.output.stdout).toContain('"msg":"Ended"');
});

test('calls use the proxy of HTTPS_PROXY with NODE_USE_ENV_PROXY=1, except those to this machine', async () => {
  const proxied: string[] = [];
  const proxy = createServer().on('connect', ({ url = '' }, socket) => {
    proxied.push(url);
    socket.destroy();
  });
  const { port, close } = await listen(proxy);
  const address = `http://127.0.0.1:${port}`;
  const variables = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, HTTPS_PROXY: address };
  const settings = { ...environment(), ...variables, SUPABASE_READ_URL: 'https://replica.example' };
  const { child, exited, origin } = await startListening(settings);
  const { body } = await request(origin).get('/readyz').expect(200);
  expect(body.checks).toMatchObject({ database: { ok: true }, auth: { ok: true }, replica: { ok: false } });
  expect(new Set(proxied)).toEqual(new Set(['replica.example:443']));
  child.kill('SIGTERM');
  await exited;
  await close();
});

test('an address that cannot be used is reported in one line, and the server exits with code 1', async () => {
  const other = createTcpServer().listen(0);
  const PORT = String((other.address() as AddressInfo).port);
  for (const [settings, line] of [
    [{ PORT }, `Port ${PORT} is in use. Set PORT to another one.`],
    [{ METRICS_PORT: PORT }, `Port ${PORT} is in use. Set METRICS_PORT to another one.`],
    [{ HOST: '203.0.113.7' }, 'This machine has no address 203.0.113.7. Set HOST to one that it has.'],
  ] as const) {
    const { output, exited } = startServer({ ...environment(), ...settings });
    expect(await exited).toEqual([1, null]);
    expect(output.stderr).toBe(`${line}\n`);
  }
  other.close();
});
