/** Rejects one file or line; the others are imported. The message has cause and remedy. */
export class Rejected extends Error {}

/** Ends the import or export. The message has cause and remedy. */
export class ImportError extends Error {}

/** A line of the report about something that is not imported. */
export interface Problem {
  /** File, folder, or line of a sheet. */
  where: string;
  /** Cause and remedy. */
  reason: string;
}

/** Converts an error, such as one of the file system, into a rejection. @throws ImportError */
export function asRejected(error: unknown): Rejected {
  if (error instanceof Rejected) return error;
  if (error instanceof ImportError) throw error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT')
    return new Rejected('The file does not exist. Restore or remove it, and run the import again.');
  if (code === 'EACCES' || code === 'EPERM')
    return new Rejected('You do not have permission to read it. Change that, and run the import again.');
  // Messages of the system contain the path on this machine.
  if (error instanceof Error && 'syscall' in error)
    return new Rejected(`The system reports ${code}. Check the file and the disk, and run the import again.`);
  return new Rejected(`It failed: ${error instanceof Error ? error.message : error}. Run the import again.`);
}
