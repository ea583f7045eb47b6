/** Something that must be fixed. The remedy names the page of the dashboard or the SQL. */
export class Problem extends Error {
  readonly remedy: string;
  constructor(problem: string, remedy: string, cause?: unknown) {
    super(problem, { cause });
    this.remedy = remedy;
  }
}

/** Something that may be intended. The remedy is for the case that it is not. */
export class Warning extends Problem {}

export class NotChecked extends Error {}

/**
 * @param found problems, or false or undefined for a condition that does not hold
 * @throws an AggregateError of the problems, if there are any
 */
export function throwAll(found: readonly (Problem | false | undefined)[]) {
  const problems = found.filter((each) => each instanceof Problem);
  if (problems.length > 0) throw new AggregateError(problems);
}

/** Returns the innermost cause of an error, because it has the reason. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

/** Returns the code of the innermost cause, such as ECONNREFUSED, or an empty string. */
export function codeOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof Error && 'code' in root ? String(root.code) : '';
}

export function reasonOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof Error ? root.message || codeOf(root) || root.name : String(root);
}
