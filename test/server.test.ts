import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, inject, test } from 'vitest';

/** The process that `npm start` runs. */
function startServer(env: Record<string, string>) {
  const child = spawn(process.execPath, ['src/server.ts'], { env: { PATH: process.env['PATH'], ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  return { child, output, exited: once(child, 'exit') };
}

const environment = () => {
  const { apiUrl, publishableKey, secretKey, jwtSecret } = inject('stack');
  return {
    PORT: '0',
    SUPABASE_URL: apiUrl,
    SUPABASE_PUBLISHABLE_KEY: publishableKey,
    SUPABASE_SECRET_KEY: secretKey,
    SUPABASE_JWT_SECRET: jwtSecret,
    REQUIRE_HTTPS: 'false',
  };
};

describe('the server process', () => {
  test('listens, answers, and ends with code 0 on SIGTERM and on SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { child, output, exited } = startServer(environment());
      await expect.poll(() => output.stdout, { timeout: 10_000 }).toContain('Listening');
      const { address } = JSON.parse(output.stdout.split('\n')[0] ?? '') as { address: { port: number } };
      const response = await fetch(`http://127.0.0.1:${address.port}/api/v1/categories`);
      expect(response.status).toBe(200);
      await response.text();
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      expect(output.stderr).toBe('');
    }
  });

  test('that cannot be configured says why in one line for each variable, without a stack, and ends with code 1', async () => {
    const { output, exited } = startServer({ ...environment(), SUPABASE_URL: '', PORT: 'x' });
    expect(await exited).toEqual([1, null]);
    expect(output.stderr.trim().split('\n')).toEqual([
      'The configuration is not usable:',
      'PORT must be a whole number from 0 to 65535.',
      'SUPABASE_URL must be an address such as https://abcd.supabase.co.',
    ]);
  });

  test('whose port is taken says so in one line and ends with code 1', async () => {
    const other = createServer().listen(0);
    const PORT = String((other.address() as AddressInfo).port);
    const { output, exited } = startServer({ ...environment(), PORT });
    expect(await exited).toEqual([1, null]);
    expect(output.stderr).toBe(`Port ${PORT} is in use. Set PORT to another one.\n`);
    other.close();
  });
});
