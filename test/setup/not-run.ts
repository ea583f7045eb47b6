import type { Reporter, TestModule } from 'vitest/node';

/** Prints the reasons of skipped tests at the end of a run, because the default reporter only counts them. */
export default class NotRun implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]) {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const byReason = Map.groupBy(skipped, (test) => {
      const result = test.result();
      return (result.state === 'skipped' && result.note) || 'They need the embedded Supabase, or were filtered out.';
    });
    for (const [reason, tests] of byReason) console.log(`Not run: ${tests.length}. ${reason}`);
  }
}
