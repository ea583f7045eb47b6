import { hash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { run } from '../../../test/support/processes.ts';

// terminal.slow.test.ts signs in with the token of the command that npm run dev prints.
test('npm run id-token prints a token with the requested claims, or how it is used', async () => {
  const print = async (options: string) => {
    const { exited, output } = run(['tools/dev/id-token.ts', ...options.split(' ')]);
    return [await exited, output.stdout, output.stderr];
  };
  const [code, stdout, stderr] = await print('--email a@b.example --name Ada --sub s --nonce raw --unverified');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(decodeJwt(String(stdout))).toMatchObject({
    iss: 'https://accounts.google.com',
    sub: 's',
    name: 'Ada',
    nonce: hash('sha256', 'raw'),
    email: 'a@b.example',
    email_verified: false,
  });
  const usage = expect.stringContaining('Usage: npm run -s id-token');
  const wrong = ['--sub s', '--email a --provider constructor', '--email a --provider apple --name Ada'];
  for (const options of wrong) expect(await print(options)).toEqual([1, '', usage]);
});
