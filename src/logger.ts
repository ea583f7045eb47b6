import { type DestinationStream, type Logger, pino } from 'pino';
import pretty, { type PrettyOptions } from 'pino-pretty';
import type { Config } from './config.ts';

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
  if (!process.stdout.isTTY) return pino({ level: logLevel }, standardOutput());
  return pino({ level: logLevel }, pretty({ ...prettyOptions, sync: true }));
}

/** Writes the lines of one turn of the event loop at once: many requests end in one, and each write is a system call. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ sync: true });
  let lines = '';
  const flush = () => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}
