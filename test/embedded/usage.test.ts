import { describe, expect, test } from 'vitest';
import { run } from './processes.ts';

describe('every command with arguments', () => {
  test.for([
    ['dev/main.ts', 'npm run dev'],
    ['dev/id-token.ts', 'npm run -s id-token'],
    ['src/doctor/main.ts', 'npm run doctor'],
    ['import/main.ts', 'npm run import'],
    ['bench/main.ts', 'npm run bench'],
    ['bench/scale.ts', 'npm run bench:scale'],
  ] as const)('%s explains itself with --help, and does nothing', async ([file, command]) => {
    const { exited, output } = run([file, '--help']);
    expect([await exited, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toMatch(new RegExp(`^Usage: ${command}\\b`));
  });

  test.for([
    'dev/main.ts',
    'dev/id-token.ts',
    'src/doctor/main.ts',
    'import/main.ts',
    'bench/main.ts',
    'bench/scale.ts',
  ])('%s refuses an option that there is not, and shows those that there are', async (file) => {
    const { exited, output } = run([file, '--hepl']);
    expect([await exited, output.stdout]).toEqual([1, '']);
    expect(output.stderr).toMatch(/--hepl[\s\S]*Usage: npm run/);
  });
});
