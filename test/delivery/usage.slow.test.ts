import { describe, expect, test } from 'vitest';
import { run } from '../support/processes.ts';

describe.for([
  ['tools/dev/main.ts', 'npm run dev'],
  ['tools/dev/id-token.ts', 'npm run -s id-token'],
  ['src/doctor/main.ts', 'npm run doctor'],
  ['tools/catalogue/main.ts', 'npm run import'],
  ['tools/catalogue/export/main.ts', 'npm run export'],
  ['tools/report/main.ts', 'npm run report'],
  ['tools/bench/main.ts', 'npm run bench'],
] as const)('the command %s', ([file, command]) => {
  test('prints its usage for --help, and does nothing else', async () => {
    const { exited, output } = run([file, '--help']);
    expect([await exited, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toMatch(new RegExp(`^Usage: ${command}\\b`));
  });

  test('rejects an unknown option, and prints its usage', async () => {
    const { exited, output } = run([file, '--hepl']);
    expect([await exited, output.stdout]).toEqual([1, '']);
    expect(output.stderr).toMatch(/--hepl[\s\S]*Usage: npm run/);
  });
});

test.for(['tools/catalogue/main.ts', 'tools/catalogue/export/main.ts'])(
  '%s without a folder asks for one',
  async (file) => {
    const { exited, output } = run([file]);
    expect([await exited, output.stderr]).toEqual([
      1,
      expect.stringMatching(/^Specify one folder\.\n\nUsage: /),
    ]);
  },
);
