import type { Reporter, TestCase } from 'vitest/node';
import type { Remedies } from '../support/tools.ts';

function reasonsFor(test: TestCase, remediesByTag: Record<string, string>): string[] {
  const remedies = test.tags.flatMap((tag) => remediesByTag[tag] ?? []);
  if (remedies.length > 0) return remedies;
  const result = test.result();
  return [
    (result.state === 'skipped' && result.note) ||
      'A hook failed, they were filtered out, or they need the embedded Supabase.',
  ];
}

/** Creates the reporter that prints why tests were skipped, because the default reporter only counts them. */
export const createNotRun = (remedies: Remedies): Reporter => ({
  onTestRunEnd(modules) {
    const counts = new Map<string, number>();
    for (const module of modules)
      for (const test of module.children.allTests('skipped'))
        for (const reason of reasonsFor(test, remedies)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    for (const [reason, count] of counts) console.log(`Not run: ${count}. ${reason}`);
  },
});
