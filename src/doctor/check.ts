import type { Run } from './run.ts';

/** Checks one part of a deployment. */
export type Check = {
  name: string;
  /** Checks that must succeed before this one runs. */
  needs: readonly Check[];
  /**
   * @returns a sentence that confirms what was checked
   * @throws Problem, or an AggregateError of several; NotChecked if it cannot check
   */
  execute: (run: Run) => Promise<string> | string;
};

export type Result = {
  check: string;
  /** A warning is about something that may be intended. */
  status: 'ok' | 'problem' | 'warning' | 'not checked';
  detail: string;
  remedy?: string;
};
