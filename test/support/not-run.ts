import type { Reporter, TestModule } from 'vitest/node';

/** Says at the end of a run what was skipped and why, which the usual output counts but does not explain. */
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
