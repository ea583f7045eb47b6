import { describe, expect, inject } from 'vitest';
import type { Result } from '../../src/doctor/result.ts';
import { startNetwork } from '../support/network.ts';
import { freePort } from '../support/ports.ts';
import { collect } from '../support/processes.ts';
import { test } from '../support/test.ts';
import { expectNoLeftovers, settingsOf } from './stack.ts';

// The timeout is longer, because each run starts a process and checks a whole project.
describe.runIf(inject('stack').embedded)('the command npm run doctor', { timeout: 60_000 }, () => {
  const start = (env: Record<string, string>, ...args: string[]) => collect(['src/doctor/main.ts', ...args], env);

  test('reports in plain lines or as JSON, with exit code 0 or 1, and prints no secret', async () => {
    const { SUPABASE_URL: _, ...secrets } = settingsOf();
    const madeUp = `sb_secret_${'y'.repeat(40)}`;
    const right = start(settingsOf());
    const wrong = start({ ...settingsOf(), SUPABASE_SECRET_KEY: madeUp }, '--json');
    const away = start({ ...settingsOf(), SUPABASE_URL: `http://127.0.0.1:${await freePort()}` });
    const codes = [right, wrong, away].map(async ({ exited }) => (await exited)[0]);
    expect(await Promise.all(codes)).toEqual([0, 1, 1]);
    expect(right.output.stdout).toMatch(/^ok +Environment .*\n[\s\S]*\nNothing needs to be fixed\.\n$/);
    expect(right.output.stdout).not.toContain('\u001b');
    expect(away.output.stdout).toMatch(/\n1 problem to fix\.\n$/);
    const { ok, results } = JSON.parse(wrong.output.stdout) as { ok: boolean; results: Result[] };
    expect(ok).toBe(false);
    expect(results.find(({ status }) => status === 'problem')).toEqual({
      check: 'SUPABASE_SECRET_KEY',
      status: 'problem',
      detail: expect.stringMatching(/\.$/),
      remedy: expect.stringMatching(/\.$/),
    });
    for (const secret of [...Object.values(secrets), madeUp])
      expect(JSON.stringify([right.output, wrong.output, away.output])).not.toContain(secret);
  });

  test('rejects an address with a password, prints its usage, and does not repeat the address', async () => {
    const { exited, output } = start(settingsOf(), '--gateway', 'https://ada:hunter2@api.example.com');
    expect(await exited).toEqual([1, null]);
    expect(output.stdout).toBe('');
    expect(output.stderr).toMatch(/^--gateway must .*\.\n\nUsage: npm run doctor/);
    expect(output.stderr).not.toMatch(/ada|hunter2/);
  });

  test('leaves nothing behind when it is interrupted', async ({ sql }) => {
    let email = '';
    const network = await startNetwork(inject('stack').apiUrl, ({ path, body }) => {
      if (path !== '/auth/v1/admin/users') return undefined;
      email = JSON.parse(body.toString()).email;
      doctor.child.kill('SIGINT'); // after it has created its files, while it creates its account
      return undefined;
    });
    const doctor = start(settingsOf(network.url));
    expect(await doctor.exited).toEqual([1, null]);
    expect(doctor.output.stdout).toContain('Signed URLs');
    await expectNoLeftovers(sql, email);
  });
});
