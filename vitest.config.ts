import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { timeoutMs } from './test/support/timeout.ts';

// Started first, because the run would otherwise end with them alone.
const LONGEST = [
  'playing',
  'project',
  'generated-clients.slow',
  'dev.slow',
  'migration.slow',
  'interrupted.slow',
  'account-secrecy.slow',
  'supabase-outage.slow',
  'query-plans.slow',
  'changes.slow',
  'browsers.slow',
  'accessible.slow',
  'empty.slow',
  'token-memory.slow',
  'image.slow',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['{test,packages/*/test,tools/*/test,examples/*/test}/**/*.test.ts'],
    globalSetup: 'test/setup/stack.ts',
    // Node itself loads the files, as it does in production.
    experimental: { viteModuleRunner: false },
    reporters: ['default', './test/setup/not-run.ts'],
    // Prints the output of failing tests only, because tests provoke errors.
    silent: 'passed-only',
    // Timeouts are long, because a busy machine may need many times as long as an idle one.
    testTimeout: 2 * timeoutMs,
    hookTimeout: 2 * timeoutMs,
    expect: { poll: { timeout: timeoutMs } },
    // More than the cores, because many tests wait for a process or a deadline.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    // Loading the gateway for each file would take a third of the time, and no test changes the state of a module.
    isolate: false,
  },
});
