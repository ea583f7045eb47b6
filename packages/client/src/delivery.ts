import type { Api } from './api.ts';
import type { FlushOptions } from './call.ts';
import type { Entries } from './entries.ts';
import { noAnswer, SoundsError } from './error.ts';
import { canGoOn } from './refusal.ts';
import type { Service } from './service.ts';

export type Report<Time extends string> = Record<Time, string> & {
  /** Milliseconds by which the clock of this device seemed to be ahead; undefined if the time is final. */
  ahead_ms?: number;
};

/** Functions of the API that send as the user of the reports, and the options of the call. */
export interface Init {
  api: Api;
  options?: FlushOptions | undefined;
}

/** Status of each report, by its key in lower case. */
export type Results = Map<string, string>;

export interface DeliveryOptions<Time extends string, Entry> {
  /** Field with the time of a report on the clock of the service. */
  time: Time;
  /** Field of the request that contains the reports. */
  field: string;
  /** Sends reports, with their keys. */
  send: (userId: string, reports: [string, Entry][], init: Init) => Promise<Results>;
}

/** Result of sending reports. */
export interface Outcome {
  /** Statuses of the reports, without those that are kept because of `error`. */
  results: Results;
  /** True if the reports must be sent in halves, until a wrong one is alone. */
  isTooMuch?: boolean;
  error?: SoundsError;
}

/**
 * Creates a function that sends reports in one request, and removes those that the response settles, by the rules in
 * docs/apps.md.
 * @param refuse receives the error of a report that the service has rejected
 */
export function createDelivery<Time extends string, Entry extends Report<Time>>(
  { time, field, send }: DeliveryOptions<Time, Entry>,
  unsent: Entries<Entry>,
  service: Service,
  refuse: (error: SoundsError) => void,
) {
  async function outcomeOf(user: string, reports: [string, Entry][], init: Init): Promise<Outcome> {
    try {
      const results = await send(user, reports, init);
      const isComplete = reports.every(([key]) => results.has(key.toLowerCase()));
      return isComplete ? { results } : { results, error: noAnswer() };
    } catch (error) {
      if (!(error instanceof SoundsError)) throw error;
      const isRefused = error.reason === 'too_large' || (error.reason === 'validation' && error.field === field);
      const results: Results = new Map();
      if (reports.length > 1 && (isRefused || error.status === 413)) return { results, isTooMuch: true };
      if (!isRefused && !canGoOn(error)) throw error;
      if (!isRefused) return { results, error };
      refuse(error);
      for (const [key] of reports) results.set(key.toLowerCase(), 'refused');
      return { results };
    }
  }

  /** Converts a time of this device's clock to the service's clock, at most now. */
  const corrected = (deviceMs: number) => new Date(Math.min(deviceMs, Date.now()) - service.aheadMs()).toISOString();

  /** Removes reports that have a result. Moves reports without one to the end, so that they do not delay others. */
  const settle = (user: string, reports: [string, Entry][], results: Results) =>
    unsent.update(user, (left) => {
      for (const [key, sent] of reports) {
        if (left[key]?.[time] !== sent[time]) continue; // a newer report has replaced it meanwhile
        delete left[key];
        const status = results.get(key.toLowerCase());
        const { ahead_ms, ...report } = sent;
        if (status === undefined) left[key] = sent;
        else if (status === 'in_future' && ahead_ms !== undefined)
          left[key] = { ...report, [time]: corrected(Date.parse(sent[time]) + ahead_ms) } as Entry;
      }
    });

  return async (user: string, reports: [string, Entry][], init: Init): Promise<Outcome> => {
    const outcome = await outcomeOf(user, reports, init);
    if (!outcome.isTooMuch) await settle(user, reports, outcome.results);
    return outcome;
  };
}
