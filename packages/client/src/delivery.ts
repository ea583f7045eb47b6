import type { Api } from './api.ts';
import type { FlushOptions } from './call.ts';
import type { Entries } from './entries.ts';
import { noAnswer, type SoundsError } from './error.ts';
import { canSendOthers, isRefusal, isTooLarge } from './refusal.ts';
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

/**
 * Creates a function that sends reports in one request, and removes those that the response settles, by the rules in
 * docs/apps.md. It sends halves if the request is too large or one of the reports is wrong, until that one is alone.
 * @param refuse receives the error of a report that the service has rejected
 * @returns a function that returns the error of a report that is kept, if there is one
 */
export function createDelivery<Time extends string, Entry extends Report<Time>>(
  { time, field, send }: DeliveryOptions<Time, Entry>,
  unsent: Entries<Entry>,
  service: Service,
  refuse: (error: SoundsError) => void,
) {
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

  return async function deliver(
    user: string,
    reports: [string, Entry][],
    init: Init,
  ): Promise<SoundsError | undefined> {
    let results: Results = new Map();
    let kept: SoundsError | undefined;
    try {
      results = await send(user, reports, init);
      if (!reports.every(([key]) => results.has(key.toLowerCase()))) kept = noAnswer();
    } catch (error) {
      if (reports.length > 1 && (isRefusal(error, field) || isTooLarge(error))) {
        const half = Math.ceil(reports.length / 2);
        const first = await deliver(user, reports.slice(0, half), init);
        const second = await deliver(user, reports.slice(half), init);
        return first ?? second;
      }
      if (isRefusal(error, field)) {
        refuse(error);
        results = new Map(reports.map(([key]) => [key.toLowerCase(), 'refused']));
      } else if (canSendOthers(error)) kept = error;
      else throw error;
    }
    await settle(user, reports, results);
    return kept;
  };
}
