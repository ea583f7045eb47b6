import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** Writes JSON, one line an event, for machines; to people, at a terminal, it writes lines they can read. */
export function createLogger({ logLevel }: Config): Logger {
  if (!process.stdout.isTTY) return pino({ level: logLevel });
  return pino({ level: logLevel }, pretty({ ignore: 'pid,hostname', singleLine: true, sync: true }));
}
