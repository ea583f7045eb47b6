import { type AddressInfo, createServer } from 'node:net';
import request from 'supertest';
import { expect, test } from 'vitest';
import { environment, startListening, startServer } from './support/server-process.ts';

test('the server and its metrics listen at HOST only, warn about settings, and stop on SIGINT', async () => {
  const settings = { HOST: '127.0.0.2', METRICS_PORT: '0', REQUIRE_HTTPS: 'true', RATE_LIMIT_PER_MINUT: '5' };
  const { child, output, exited, until } = await startListening({ ...environment(), ...settings });
  const [line] = await until(/^.*Serving metrics.*\}$/m);
  const { address } = JSON.parse(line) as { address: { address: string; port: number } };
  expect(output.stdout.match(/"address":"127\.0\.0\.2"/g)).toHaveLength(2);
  expect(output.stdout).toContain('{"level":30,"severity":"INFO",'); // alerts of Google Cloud read the severity
  await request(`http://${address.address}:${address.port}`)
    .get('/metrics')
    .expect('Content-Type', /^text\/plain; version=0\.0\.4/)
    .expect(/sounds_http_request_duration_seconds/);
  child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
  for (const warning of ['Set TRUST_PROXY.', 'RATE_LIMIT_PER_MINUT is set but not read.'])
    expect(output.stdout).toContain(warning);
});

test('invalid configuration prints one line per variable and exits with code 1', async () => {
  const { output, exited } = startServer({ PORT: 'x' });
  expect(await exited).toEqual([1, null]);
  expect(output.stderr.trim().split('\n')).toEqual([
    'The configuration is invalid:',
    'SUPABASE_URL must be an address such as https://abcd.supabase.co.',
    'PORT must be a whole number from 0 to 65535.',
    expect.stringMatching(/^SUPABASE_PUBLISHABLE_KEY must be /),
    expect.stringMatching(/^SUPABASE_SECRET_KEY must be /),
    expect.stringMatching(/^No Supabase project is configured\. Run cp \.env\.example \.env[^\n]+\.$/),
  ]);
});

test('an address that cannot be used is reported in one line, and the server exits with code 1', async () => {
  const other = createServer().listen(0);
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
