import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { newEmail } from '../../../test/support/embedded-supabase.ts';
import { exchange, test } from '../../../test/support/identities.ts';
import { run } from '../../../test/support/processes.ts';

describe.runIf(inject('stack').embedded)('npm run id-token', () => {
  async function print(...args: string[]) {
    const command = run(['tools/dev/id-token.ts', ...args]);
    const code = await command.exited;
    return { code, ...command.output };
  }

  test('prints a token that is taken, and nothing else', async ({ supabase }) => {
    const email = newEmail();
    const { code, stdout, stderr } = await print('--email', email, '--name', 'Ada', '--nonce', 'raw');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { status, body } = await exchange(supabase, stdout.trim(), { nonce: 'raw' });
    expect([status, body.user.email, body.user.user_metadata.full_name]).toEqual([200, email, 'Ada']);
    const again = await print('--email', email);
    expect((await exchange(supabase, again.stdout.trim())).body.user.id).toBe(body.user.id);
  });

  test('prints what it is asked for', async () => {
    const args = ['--provider', 'apple', '--sub', 's', '--unverified'];
    const { stdout } = await print('--email', 'a@example.com', ...args);
    expect(decodeJwt(stdout)).toMatchObject({
      iss: 'https://appleid.apple.com',
      sub: 's',
      email: 'a@example.com',
      email_verified: false,
    });
  });

  test.for([
    ['no address', []],
    ['an unknown provider', ['--email', 'a@example.com', '--provider', 'constructor']],
    ['a name from Apple', ['--email', 'a@example.com', '--provider', 'apple', '--name', 'Ada']],
    ['an option that there is not', ['--mail', 'a@example.com']],
  ] as const)('rejects %s', async ([, args]) => {
    const { code, stdout, stderr } = await print(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Usage: npm run -s id-token');
  });
});
