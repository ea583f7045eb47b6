import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject } from 'vitest';
import type { Result } from '../../src/doctor/check.ts';
import { noLeftovers, test } from './stack.ts';

// A run of the command starts a process, which checks a whole project in some seconds.
describe.runIf(inject('stack').embedded)('the command npm run doctor', { timeout: 60_000 }, () => {
  const start = (env: Record<string, string>, ...args: string[]) =>
    spawn(process.execPath, ['src/doctor/main.ts', ...args], { env });

  async function run(env: Record<string, string>, ...args: string[]) {
    const child = start(env, ...args);
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (text) => {
        output[stream] += text;
      });
    const [code] = await once(child, 'close');
    return { code, ...output };
  }

  test('reports in plain lines or as JSON, with exit code 0 or 1, and prints no secret', async ({
    ownStack,
  }) => {
    const right = await run(ownStack.environment);
    expect(right.code).toBe(0);
    expect(right.stdout).toMatch(/^ok +Environment .*\n[\s\S]*\nNothing needs to be fixed\.\n$/);
    expect(right.stdout).not.toContain('\u001b');
    const wrongKey = { ...ownStack.environment, SUPABASE_SECRET_KEY: `sb_secret_${'y'.repeat(40)}` };
    const [wrong, asJson] = await Promise.all([run(wrongKey), run(wrongKey, '--json')]);
    expect([wrong.code, asJson.code]).toEqual([1, 1]);
    expect(wrong.stdout).toMatch(/\n1 problem to fix\.\n$/);
    const { ok, results } = JSON.parse(asJson.stdout) as { ok: boolean; results: Result[] };
    expect(ok).toBe(false);
    expect(results.find(({ status }) => status === 'problem')).toEqual({
      check: 'SUPABASE_SECRET_KEY',
      status: 'problem',
      detail: expect.stringMatching(/\.$/),
      remedy: expect.stringMatching(/\.$/),
    });
    const { SUPABASE_URL: _, ...secrets } = ownStack.environment;
    for (const secret of [...Object.values(secrets), 'y'.repeat(40)])
      expect(right.stdout + wrong.stdout + wrong.stderr + asJson.stdout).not.toContain(secret);
  });

  test('leaves nothing behind when it is interrupted', async ({ ownStack }) => {
    const { exited } = await ownStack.superuser.begin(async (transaction) => {
      // Blocks the creation of the account, so that the run cannot end before it is interrupted.
      await transaction`lock table auth.users in exclusive mode`;
      const child = start(ownStack.environment);
      let said = '';
      child.stdout.on('data', (text) => {
        said += text;
      });
      await expect.poll(() => said).toContain('Signed URLs');
      child.kill('SIGINT');
      return { exited: once(child, 'exit') };
    });
    expect(await exited).toEqual([1, null]);
    expect(await ownStack.countLeftovers()).toEqual(noLeftovers);
  });

  test('explains an unusable configuration, without a stack trace', async () => {
    const unset = await run({});
    expect([unset.code, unset.stdout]).toEqual([1, '']);
    expect(unset.stderr).toMatch(/\nSUPABASE_URL must be /);
    expect(unset.stderr).toMatch(
      /\nNo Supabase project is configured\. Run cp \.env\.example \.env[^\n]+\.\n$/,
    );
    expect(unset.stderr).not.toMatch(/\n {4}at /);
  });
});
