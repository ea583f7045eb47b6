/** Why one file or one line is rejected, and what to do; the others go on. */
export class Rejected extends Error {}

/** Why the import as a whole cannot start or continue, and what to do. */
export class ImportError extends Error {}

/** A line of the report about something that is not imported. */
export interface Problem {
  /** A file, a folder, or a line of the sheet. */
  where: string;
  /** What is wrong, and what to do. */
  reason: string;
}

/** What an error that came up with one file means for that file. */
export function asRejected(error: unknown): Rejected {
  if (error instanceof Rejected) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return new Rejected('The file does not exist. Restore or remove it, and run the import again.');
  if (code === 'EACCES' || code === 'EPERM')
    return new Rejected('You do not have permission to read it. Change that, and run the import again.');
  return new Rejected(`It failed: ${error instanceof Error ? error.message : error}. Run the import again.`);
}
