import { type AddressInfo, createServer } from 'node:net';
import request from 'supertest';
import { expect, test } from 'vitest';
import { apiAt } from './support/api.ts';
import { environment, startListening, startServer } from './support/server-process.ts';

test('the server listens, answers without metrics, and ends with code 0 on SIGTERM', async () => {
  const { child, origin, output, exited } = await startListening(environment());
  await apiAt(`${origin}/api/v1`).get('/categories').expect(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(output.stderr).toBe('');
  expect(output.stdout).not.toContain('metrics');
});

test('the server serves metrics at METRICS_PORT, warns of its settings, and ends on SIGINT', async () => {
  const settings = { METRICS_PORT: '0', REQUIRE_HTTPS: 'true', RATE_LIMIT_PER_MINUT: '5' };
  const { child, output, exited } = await startListening({ ...environment(), ...settings });
  await expect.poll(() => output.stdout).toContain('Set TRUST_PROXY.');
  expect(output.stdout).toContain('Did you mean RATE_LIMIT_PER_MINUTE?');
  await expect.poll(() => output.stdout).toContain('Serving metrics');
  const line = output.stdout.split('\n').find((text) => text.includes('Serving metrics')) ?? '';
  const { address } = JSON.parse(line) as { address: { port: number } };
  await request(`http://127.0.0.1:${address.port}`)
    .get('/metrics')
    .expect('Content-Type', /^text\/plain; version=0\.0\.4/)
    .expect(/sounds_http_request_duration_seconds/);
  child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
});

test('invalid configuration prints one line per variable and exits with code 1', async () => {
  const { output, exited } = startServer({ ...environment(), SUPABASE_URL: '', PORT: 'x' });
  expect(await exited).toEqual([1, null]);
  expect(output.stderr.trim().split('\n')).toEqual([
    'The configuration is invalid:',
    'SUPABASE_URL must be an address such as https://abcd.supabase.co.',
    'PORT must be a whole number from 0 to 65535.',
  ]);
});

test('a port in use is reported in one line, and the server exits with code 1', async () => {
  const other = createServer().listen(0);
  const PORT = String((other.address() as AddressInfo).port);
  for (const variable of ['PORT', 'METRICS_PORT']) {
    const { output, exited } = startServer({ ...environment(), [variable]: PORT });
    expect(await exited).toEqual([1, null]);
    expect(output.stderr).toBe(`Port ${PORT} is in use. Set ${variable} to another one.\n`);
  }
  other.close();
});
