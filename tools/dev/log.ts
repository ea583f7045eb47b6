import pretty, { type PrettyOptions } from 'pino-pretty';

/** The log as people read it at a terminal. */
export const prettyLog = (options: Pick<PrettyOptions, 'destination' | 'sync'> = {}) =>
  pretty({
    ...options,
    ignore: 'pid,hostname',
    singleLine: true,
    customPrettifiers: {
      // A word that pino-pretty knows, and takes for a text.
      caller: (caller) => Object.values(caller).join(' '),
    },
  });
