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
