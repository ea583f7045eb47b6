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
  run: (visit: Visit) => Promise<string>;
};

/** Something that must be fixed, and how: on which page of the dashboard, with which SQL. */
export class Problem extends Error {
  readonly remedy: string;
  constructor(problem: string, remedy: string, cause?: unknown) {
    super(problem, { cause });
    this.remedy = remedy;
  }
}

export class NotChecked extends Error {}

export type Result = {
  check: string;
  status: 'ok' | 'problem' | 'not checked';
  detail: string;
  remedy?: string;
};

/** The innermost cause of a failure, which is where its reason is. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
