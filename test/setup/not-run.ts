import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Remedies } from '../support/tools.ts';

/** Prints the reasons of skipped tests at the end of a run, because the default reporter only counts them. */
export class NotRun implements Reporter {
  readonly #remedies: Record<string, string>;

  constructor(remedies: Remedies) {
    this.#remedies = remedies;
  }

  #reasonsFor(test: TestCase): string[] {
    const remedies = test.tags.flatMap((tag) => this.#remedies[tag] ?? []);
    if (remedies.length > 0) return remedies;
    const result = test.result();
    return [
      (result.state === 'skipped' && result.note) ||
        'A hook failed, they were filtered out, or they need the embedded Supabase.',
    ];
  }

  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = new Map<string, number>();
    for (const module of modules)
      for (const test of module.children.allTests('skipped'))
        for (const reason of this.#reasonsFor(test)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    for (const [reason, count] of counts) console.log(`Not run: ${count}. ${reason}`);
  }
}
