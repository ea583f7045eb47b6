import pretty, { type PrettyOptions } from 'pino-pretty';

/** Formats the log for a terminal. */
export const prettyLog = (options: Pick<PrettyOptions, 'destination' | 'sync'> = {}) =>
  pretty({
    ...options,
    ignore: 'pid,hostname,severity',
    singleLine: true,
    customPrettifiers: {
      // pino-pretty expects a string under this name.
      caller: (caller) => Object.values(caller).join(' '),
    },
  });
