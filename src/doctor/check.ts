import type { Run } from './run.ts';

/** One thing that goes wrong in practice. */
export type Check = {
  name: string;
  /** Checks without whose success this one can say nothing. */
  needs: readonly Check[];
  /**
   * @returns what was found to be right, in a sentence
   * @throws Problem for what must be fixed, or an AggregateError of several; NotChecked for what cannot be told here
   */
  execute: (run: Run) => Promise<string> | string;
};

export type Result = {
  check: string;
  /** A warning is about what may be meant so. */
  status: 'ok' | 'problem' | 'warning' | 'not checked';
  detail: string;
  remedy?: string;
};
