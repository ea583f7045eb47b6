import { defineConfig } from 'vitest/config';
import { createNotRun } from './test/setup/not-run.ts';
import { findRemedies, toolNames } from './test/support/tools.ts';
import './tools/end-with-npm.ts';

const remedies = await findRemedies();

export default defineConfig({
  test: {
    include: ['{test,packages/*/test,tools/*/test,examples/*/test}/**/*.test.ts'],
    globalSetup: 'test/setup/stack.ts',
    // Node itself loads the files, as it does in production.
    experimental: { viteModuleRunner: false },
    reporters: ['default', createNotRun(remedies)],
    // Skips tests that are tagged with a tool that cannot be used.
    tags: toolNames.map((name) => ({ name, ...(name in remedies && { skip: true }) })),
    // Prints the output of failing tests only, because tests provoke errors.
    silent: 'passed-only',
    // These limits end a test that hangs. They are long, because other programs may use the machine, too.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
    // Runs more workers than two cores, because some tests wait. Not more, because each worker loads the gateway.
    maxWorkers: 4,
    // Loading the gateway for each file would take a third of the time, and no test changes the state of a module.
    isolate: false,
  },
});
