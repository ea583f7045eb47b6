import { decodeJwt } from 'jose';
import { describe, expect, inject } from 'vitest';
import { bearer } from '../../../test/support/api.ts';
import { run } from '../../../test/support/processes.ts';
import { newEmail, test } from '../../../test/support/test.ts';

describe.runIf(inject('stack').embedded)('npm run id-token', () => {
  async function print(...args: string[]) {
    const command = run(['tools/dev/id-token.ts', ...args]);
    const code = await command.exited;
    return { code, ...command.output };
  }

  test('prints a token that the service accepts, and nothing else', async ({ api }) => {
    const email = newEmail();
    const { code, stdout, stderr } = await print('--email', email, '--name', 'Ada', '--nonce', 'raw');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const signIn = async (id_token: string, nonce?: string) => {
      const { body } = await api.post('/auth/oauth/google').send({ id_token, nonce }).expect(200);
      return body.data;
    };
    const { access_token, user } = await signIn(stdout.trim(), 'raw');
    const me = await api.get('/me').auth(access_token, bearer).expect(200);
    expect(me.body.data).toMatchObject({ email, full_name: 'Ada' });
    const again = await print('--email', email);
    expect((await signIn(again.stdout.trim())).user.id).toBe(user.id);
  });

  test('prints a token with the requested claims', async () => {
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
  ] as const)('rejects %s', async ([, args]) => {
    const { code, stdout, stderr } = await print(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Usage: npm run -s id-token');
  });
});
