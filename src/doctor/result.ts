export interface Result {
  check: string;
  /** A warning reports a state that may be intended. */
  status: 'ok' | 'problem' | 'warning' | 'not checked';
  detail: string;
  remedy?: string;
}

/** State that must be fixed. The remedy names the page of the dashboard or the SQL. */
export class Problem extends Error {
  readonly remedy: string;
  constructor(problem: string, remedy: string) {
    super(problem);
    this.remedy = remedy;
  }
}

/** State that may be intended. The remedy applies if it is not. */
export class Warning extends Problem {}

export class NotChecked extends Error {}

/** Throws the problems among some values. @throws an AggregateError, if there are any */
export function throwAll(found: readonly (Problem | false | undefined)[]) {
  const problems = found.filter((each) => each instanceof Problem);
  if (problems.length > 0) throw new AggregateError(problems);
}

/** Returns the message of the innermost cause of an error, or its code, such as ECONNREFUSED, without a full stop. */
export function reasonOf(error: unknown): string {
  // The causes of some libraries are objects that describe the error.
  if (error instanceof Error && error.cause instanceof Error) return reasonOf(error.cause);
  const text = error instanceof Error ? error.message || ('code' in error ? error.code : error.name) : error;
  return String(text).trim().replace(/\.$/, '');
}

/** Returns a handler for `.catch` that throws a problem with the reason of the failure. */
export const failed =
  (problem: string, remedy: string) =>
  (error: unknown): never => {
    throw new Problem(`${problem}: ${reasonOf(error)}.`, remedy);
  };
