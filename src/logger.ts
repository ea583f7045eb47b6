import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { type PrettyOptions, prettyFactory } from 'pino-pretty';
import type { Config } from './config.ts';

/** What people read at a terminal. `caller` is a word that pino-pretty knows, and takes for a text. */
export const prettyOptions = {
  ignore: 'pid,hostname',
  singleLine: true,
  customPrettifiers: {
    caller: (caller) => Object.values(caller).join(' '),
  },
} satisfies PrettyOptions;

/** How much of the log waits, in bytes, for a reader that is slower; what comes on top of that is lost. */
const maxWaiting = 4 * 1024 * 1024;

/**
 * Writes JSON, one line an event, for machines; to people, at a terminal, it writes lines they can read. Where nobody takes
 * them, as behind a pipe that is closed or full, or on a full disk, lines are lost, and the service goes on.
 */
export function createLogger({ logLevel }: Config): Logger {
  const { stdout } = process;
  const format = stdout.isTTY ? prettyFactory(prettyOptions) : (line: string) => line;
  stdout.on('error', () => {});
  // Not pino's own destination: on an error it tries again for ever when the process ends.
  const write = (line: string) => {
    if (stdout.writableLength < maxWaiting) stdout.write(format(line));
  };
  return pino({ level: logLevel }, { write });
}

/** Resolves when all that was logged is written, or half a second later: then nobody takes it. */
export async function logWritten(): Promise<void> {
  const written = new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await Promise.race([written, sleep(500)]);
}
