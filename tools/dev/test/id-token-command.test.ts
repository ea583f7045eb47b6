import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { run } from '../../../test/support/processes.ts';

async function print(...args: string[]) {
  const { exited, output } = run(['tools/dev/id-token.ts', ...args]);
  return { code: await exited, ...output };
}

// dev.test.ts signs in with the token of the command that npm run dev prints.
test('npm run id-token prints a token with the requested claims, and nothing else', async () => {
  const options = '--email a@example.com --name Ada --sub s --nonce raw --unverified'.split(' ');
  const { code, stdout, stderr } = await print(...options);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(decodeJwt(stdout)).toMatchObject({
    iss: 'https://accounts.google.com',
    sub: 's',
    name: 'Ada',
    nonce: hash('sha256', 'raw'),
    email: 'a@example.com',
    email_verified: false,
  });
});

test('npm run id-token rejects no address, an unknown provider and a name from Apple', async () => {
  for (const args of [
    '',
    '--email a@b.example --provider constructor',
    '--email a@b.example --provider apple --name Ada',
  ]) {
    const { code, stdout, stderr } = await print(...args.split(' ').filter(Boolean));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Usage: npm run -s id-token');
  }
});
