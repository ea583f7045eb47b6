import type { Step } from '../plan/plan.ts';
import type { Problem } from '../shared/problems.ts';

/** Result of an import. */
export interface Outcome {
  done: Set<Step>;
  rejected: Problem[];
  /** Reason why the import ended early. */
  stopped?: string;
}
