import { type AddressInfo, createServer } from 'node:net';
import request from 'supertest';
import { expect, test } from 'vitest';
import { run } from './support/processes.ts';
import { environment, startListening, startServer } from './support/server-process.ts';

test('the server serves metrics at METRICS_PORT, warns about its settings, and stops on SIGINT', async () => {
  const settings = { METRICS_PORT: '0', REQUIRE_HTTPS: 'true', RATE_LIMIT_PER_MINUT: '5' };
  const { child, output, exited, until } = await startListening({ ...environment(), ...settings });
  const [line] = await until(/^.*Serving metrics.*\}$/m);
  const { address } = JSON.parse(line) as { address: { port: number } };
  await request(`http://127.0.0.1:${address.port}`)
    .get('/metrics')
    .expect('Content-Type', /^text\/plain; version=0\.0\.4/)
    .expect(/sounds_http_request_duration_seconds/);
  child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
  for (const warning of ['Set TRUST_PROXY.', 'Did you mean RATE_LIMIT_PER_MINUTE?'])
    expect(output.stdout).toContain(warning);
});

test('npm start stops on a SIGTERM that only npm receives', async () => {
  const npm = run(['start'], environment(), 'npm');
  await npm.until('Listening');
  npm.kill('SIGTERM');
  await npm.exited;
  expect(npm.output.stdout).toContain('"msg":"Ended"');
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
