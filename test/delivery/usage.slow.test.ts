import { describe, expect, test } from 'vitest';
import { run } from '../support/processes.ts';

describe('every command with arguments', () => {
  test.for([
    ['tools/dev/main.ts', 'npm run dev'],
    ['tools/dev/id-token.ts', 'npm run -s id-token'],
    ['src/doctor/main.ts', 'npm run doctor'],
    ['tools/catalogue/main.ts', 'npm run import'],
    ['tools/bench/main.ts', 'npm run bench'],
  ] as const)('%s prints its usage for --help, and does nothing else', async ([file, command]) => {
    const { exited, output } = run([file, '--help']);
    expect([await exited, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toMatch(new RegExp(`^Usage: ${command}\\b`));
  });

  test.for([
    'tools/dev/main.ts',
    'tools/dev/id-token.ts',
    'src/doctor/main.ts',
    'tools/catalogue/main.ts',
    'tools/bench/main.ts',
  ])('%s rejects an unknown option, and prints its usage', async (file) => {
    const { exited, output } = run([file, '--hepl']);
    expect([await exited, output.stdout]).toEqual([1, '']);
    expect(output.stderr).toMatch(/--hepl[\s\S]*Usage: npm run/);
  });
});
