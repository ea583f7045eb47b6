import { type Logger, pino } from 'pino';
import pretty, { type PrettyOptions } from 'pino-pretty';
import type { Config } from '../config.ts';

/** What people read at a terminal. `caller` is a word that pino-pretty knows, and takes for a text. */
export const prettyOptions = {
  ignore: 'pid,hostname',
  singleLine: true,
  customPrettifiers: {
    caller: (caller) => Object.values(caller).join(' '),
  },
} satisfies PrettyOptions;

/** Writes JSON, one line an event, for machines; to people, at a terminal, it writes lines they can read. */
export function createLogger({ logLevel }: Config): Logger {
  if (!process.stdout.isTTY) return pino({ level: logLevel });
  return pino({ level: logLevel }, pretty({ ...prettyOptions, sync: true }));
}
