import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** How much of the log waits, in bytes, for a reader that is slower; what comes on top of that is lost. */
const maxWaiting = 4 * 1024 * 1024;

/**
 * Writes JSON, one line for each event. Where nobody takes them, as behind a pipe that is closed or full, or on a full disk,
 * lines are lost, and the service goes on.
 */
export function createLogger({ logLevel }: Config): Logger {
  const { stdout } = process;
  stdout.on('error', () => {});
  // Not pino's own destination: on an error it tries again for ever when the process ends.
  const write = (line: string) => {
    if (stdout.writableLength < maxWaiting) stdout.write(line);
  };
  return pino({ level: logLevel }, { write });
}

/** Resolves when all that was logged is written, or half a second later: then nobody takes it. */
export async function logWritten(): Promise<void> {
  const written = new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await Promise.race([written, sleep(500)]);
}
