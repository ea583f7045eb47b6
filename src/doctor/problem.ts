/** Something that must be fixed, and how: on which page of the dashboard, with which SQL. */
export class Problem extends Error {
  readonly remedy: string;
  constructor(problem: string, remedy: string, cause?: unknown) {
    super(problem, { cause });
    this.remedy = remedy;
  }
}

export class NotChecked extends Error {}

/** The innermost cause of a failure, which is where its reason is. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
