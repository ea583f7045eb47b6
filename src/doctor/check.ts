import type { Visit } from './visit.ts';

/** One thing that goes wrong in practice. */
export type Check = {
  name: string;
  /** Checks without whose success this one can say nothing. */
  needs: readonly Check[];
  /**
   * @returns what was found to be right, in a sentence
   * @throws Problem for what must be fixed, NotChecked for what cannot be told here
   */
  run: (visit: Visit) => Promise<string> | string;
};

export type Result = {
  check: string;
  status: 'ok' | 'problem' | 'not checked';
  detail: string;
  remedy?: string;
};
