/** Something that must be fixed, and how: on which page of the dashboard, with which SQL. */
export class Problem extends Error {
  readonly remedy: string;
  constructor(problem: string, remedy: string, cause?: unknown) {
    super(problem, { cause });
    this.remedy = remedy;
  }
}

/** Something that may be meant so, and what to do if it is not. */
export class Warning extends Problem {}

export class NotChecked extends Error {}

/**
 * @param found what may be one: a condition that does not hold stands for none
 * @throws an AggregateError of the problems, when there are any
 */
export function throwAll(found: readonly (Problem | false | undefined)[]) {
  const problems = found.filter((each) => each instanceof Problem);
  if (problems.length > 0) throw new AggregateError(problems);
}

/** The innermost cause of a failure, which is where its reason is. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error;
}

/** The code of what made something fail, such as ECONNREFUSED; empty where it has none. */
export function codeOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof Error && 'code' in root ? String(root.code) : '';
}

export function reasonOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof Error ? root.message || codeOf(root) || root.name : String(root);
}
