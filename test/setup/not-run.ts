import type { Reporter, TestModule } from 'vitest/node';

/** Prints at the end of a run which tests were skipped and why; the default reporter only counts them. */
export default class NotRun implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const byReason = Map.groupBy(skipped, (test) => {
      const result = test.result();
      return (result.state === 'skipped' && result.note) || 'About the embedded Supabase, or not asked for.';
    });
    for (const [reason, tests] of byReason) console.log(`Not run: ${tests.length}. ${reason}`);
  }
}
