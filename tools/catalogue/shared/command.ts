import { createInterface } from 'node:readline/promises';
import { ImportError } from './problems.ts';
import { printable } from './text.ts';

// Functions that the import and the export share.

export const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);

/** Asks at the terminal. Ctrl-C may end the process, because nothing has been changed yet. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  terminal.once('SIGINT', () => process.exit(130));
  return await terminal
    .question(question)
    .catch(() => '') // Ctrl-D
    .finally(() => terminal.close());
}

/** Aborts `interruption` at SIGINT, SIGTERM and SIGHUP. @returns a function that stops listening */
export function abortAtSignals(interruption: AbortController): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const abort = () => interruption.abort();
  for (const signal of signals) process.on(signal, abort);
  return () => {
    for (const signal of signals) process.off(signal, abort);
  };
}

/** Returns the only folder of a command line. @throws ImportError with the usage */
export function folderIn([folder, ...more]: string[], usage: string): string {
  if (folder === undefined || more.length > 0) throw new ImportError(`Specify one folder.\n\n${usage}`);
  return folder;
}

/**
 * Runs a command, or prints its usage for --help and for an unknown option.
 * @param run returns true if everything succeeded, for exit code 0
 */
export async function exitWith(usage: string, run: () => Promise<boolean>): Promise<void> {
  try {
    if (process.argv.includes('--help')) console.log(usage);
    else process.exitCode = (await run()) ? 0 : 1;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isUsage = code?.startsWith('ERR_PARSE_ARGS');
    if (!isUsage && !(error instanceof ImportError)) console.error(error);
    else for (const line of `${message}${isUsage ? `\n\n${usage}` : ''}`.split('\n')) console.error(printable(line));
    process.exitCode = 1;
  }
}
