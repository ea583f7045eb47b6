import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

/** Writes JSON, one line an event, for machines; to people, at a terminal, it writes lines they can read. */
export function createLogger({ logLevel }: Config): Logger {
  if (!process.stdout.isTTY) return pino({ level: logLevel }, standardOutput());
  return pino({ level: logLevel }, pretty({ ignore: 'pid,hostname', singleLine: true, sync: true }));
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
