import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';

/** Maximum number of bytes that wait for a slow reader. Further lines are dropped. */
const maxWaiting = 4 * 1024 * 1024;

/** Severities of Google Cloud Logging, whose alerts do not know the levels of pino. */
const severities: Record<string, string> = {
  trace: 'DEBUG',
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
  fatal: 'CRITICAL',
};

/** Creates a logger that writes one line of JSON per event. Drops lines that cannot be written, as to a full disk. */
export function createLogger({ logLevel }: Config): Logger {
  const { stdout } = process;
  stdout.on('error', () => {});
  // Replaces pino's destination, which after an error retries forever when the process ends.
  const write = (line: string) => {
    if (stdout.writableLength < maxWaiting) stdout.write(line);
  };
  const formatters = { level: (label: string, level: number) => ({ level, severity: severities[label] }) };
  return pino({ level: logLevel, formatters }, { write });
}

/** Resolves when the log is written, or after half a second. */
export async function logWritten(): Promise<void> {
  const written = new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  await Promise.race([written, sleep(500)]);
}
