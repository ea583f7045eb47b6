import type { Api } from './api.ts';
import type { FlushOptions } from './call.ts';
import { createEntries } from './entries.ts';
import { noAnswer, SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import { canGoOn, createFlush } from './refusal.ts';
import type { DeviceSession } from './session.ts';

/** Maximum number of reports in one request. */
const batchSize = 100;

type Report<Time extends string> = Record<Time, string> & {
  /** Milliseconds by which the clock of this device seemed to be ahead; undefined if the time is final. */
  ahead_ms?: number;
};

/** Functions of the API that send as the user of the reports, and the options of the call. */
export type Init = { api: Api; options?: FlushOptions | undefined };

/** Status of each report, by its key in lower case. */
export type Results = Map<string, string>;

type Options<Time extends string, Entry> = {
  name: string;
  /** Field with the time of a report on the clock of the service. */
  time: Time;
  /** Field of the request that contains the reports. */
  field: string;
  /** Time in which reports are collected for one request. */
  gatherMs: number;
  /** Sends reports, with their keys. */
  send: (userId: string, reports: [string, Entry][], init: Init) => Promise<Results>;
};

/** Keeps reports of a user, such as plays, until they are sent. Those with an equal key replace each other. */
export function createOutbox<Time extends string, Entry extends Report<Time>>(
  { session, waiting, store }: Parts,
  { name, time, gatherMs, ...sending }: Options<Time, Entry>,
) {
  const { timeLimitMs, service } = waiting;
  const unsent = createEntries<Entry>(store, name);
  /** Reports that are being stored, by their keys. */
  const fresh = new Map<string, { user: string; report: Entry }>();
  let isGathering = false;
  const { flush, refuse } = createFlush(send);

  /** Converts a time of this device's clock to the service's clock, at most now. */
  const corrected = (deviceMs: number) => new Date(Math.min(deviceMs, Date.now()) - service.aheadMs()).toISOString();

  /** Sends all reports of a user. Call it in `exclusively`. @throws SoundsError if reports are kept, at the end */
  async function sendAll(user: string, sender: DeviceSession, options?: FlushOptions) {
    const init = { api: sender.api({ userId: user }), options };
    const tried = new Set<string>();
    let failure: SoundsError | undefined;
    for (let size = batchSize; ; ) {
      const untried = ([key, report]: [string, Entry]) => !tried.has(key + report[time]);
      const reports = Object.entries(await unsent.read(user))
        .filter(untried)
        .slice(0, size);
      if (reports.length === 0) break;
      const { results, isTooMuch, error } = await sendBatch(user, reports, init);
      if (isTooMuch) {
        size = Math.ceil(reports.length / 2);
        continue;
      }
      if (reports.length === 1) size = batchSize;
      failure ??= error;
      for (const [key, report] of reports) if (!results.has(key.toLowerCase())) tried.add(key + report[time]);
      await settle(user, reports, results);
    }
    if (failure) throw failure;
  }

  /** Sends the newest reports of a user in one request, which outlives the page. */
  async function sendAndLeave(user: string, options: FlushOptions) {
    const stored = await unsent.read(user);
    for (const [key, { user: owner, report }] of fresh) if (owner === user) stored[key] = report;
    const reports = Object.entries(stored).slice(-batchSize);
    if (reports.length === 0) return;
    const { results } = await sendBatch(user, reports, {
      api: session.api({ userId: user, repeatable: false }),
      options,
    });
    await settle(user, reports, results);
  }

  /**
   * Sends reports in one request.
   * @returns their statuses, without those of reports that are kept because of `error`. `isTooMuch` is true if the
   *   reports must be sent in halves, until a wrong one is alone
   */
  async function sendBatch(user: string, reports: [string, Entry][], init: Init) {
    try {
      const results = await sending.send(user, reports, init);
      const isComplete = reports.every(([key]) => results.has(key.toLowerCase()));
      return { results, error: isComplete ? undefined : noAnswer() };
    } catch (error) {
      if (!(error instanceof SoundsError)) throw error;
      const { status, reason, field } = error;
      const isRefused = reason === 'too_large' || (reason === 'validation' && field === sending.field);
      const results: Results = new Map();
      if (reports.length > 1 && (isRefused || status === 413)) return { results, isTooMuch: true };
      if (!isRefused && !canGoOn(error)) throw error;
      if (!isRefused) return { results, error };
      refuse(error);
      for (const [key] of reports) results.set(key.toLowerCase(), 'refused');
      return { results };
    }
  }

  /** Removes reports that have a result. Moves the others to the end, so that they do not hold up those behind them. */
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

  const exclusively = (user: string, task: () => Promise<void>, options?: FlushOptions) =>
    unsent.sending(user, timeLimitMs, task, options?.signal);

  /** @param sender session to send with, which may be over on this device */
  async function send(options?: FlushOptions, sender = session): Promise<void> {
    const user = (await sender.load())?.user.id;
    if (user === undefined) return;
    if (options?.keepalive) await sendAndLeave(user, options);
    else await exclusively(user, () => sendAll(user, sender, options), options);
  }

  return {
    ...unsent,
    exclusively,
    sendAll,
    send,
    flush,

    /** Stores a report, and sends it later with others. */
    async add(user: string, key: string, report: Entry) {
      const storing = { user, report };
      fresh.set(key, storing);
      await unsent.update(user, (entries) => {
        entries[key] = report;
      });
      if (fresh.get(key) === storing) fresh.delete(key);
      if (isGathering) return;
      isGathering = true;
      setTimeout(() => {
        isGathering = false;
        send().catch(() => {}); // unsent reports stay in the store
      }, gatherMs);
    },
  };
}
