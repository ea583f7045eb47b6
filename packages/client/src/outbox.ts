import { type CallOptions, signalOf } from './call.ts';
import { createEntries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import type { DeviceSession } from './session.ts';

/** Maximum number of reports in one request. */
const batchSize = 100;

type Report<Time extends string> = Record<Time, string> & {
  /** Milliseconds by which the clock of this device seemed to be ahead; undefined if the time is final. */
  ahead_ms?: number;
};

export type Init = { signal: AbortSignal | null; fetch: (request: Request) => Promise<Response> };

type Options<Time extends string, Entry> = {
  name: string;
  /** Field with the time of a report on the clock of the service. */
  time: Time;
  /** Time in which reports are collected for one request. */
  gatherMs: number;
  /** Sends reports, with their keys. @returns the status of each, in the same order */
  send: (userId: string, reports: [string, Entry][], init: Init) => Promise<{ status: string }[]>;
};

/** Keeps reports of a user, such as plays, until they are sent. Those with an equal key replace each other. */
export function createOutbox<Time extends string, Entry extends Report<Time>>(
  { session, waiting: { timeLimitMs, service }, store }: Parts,
  { name, time, gatherMs, send }: Options<Time, Entry>,
) {
  const unsent = createEntries<Entry>(store, name);
  let isGathering = false;

  /** Converts a time of this device's clock to the service's clock, at most now. */
  const corrected = (deviceMs: number) => new Date(Math.min(deviceMs, Date.now()) - service.aheadMs()).toISOString();

  /** Sends all reports of a user. Call it in `exclusively`. */
  async function sendAll(user: string, sender: DeviceSession, options?: CallOptions) {
    const init = { fetch: (request: Request) => sender.fetch(request, { userId: user }), ...signalOf(options) };
    for (let size = batchSize; ; ) {
      const reports = Object.entries(await unsent.read(user)).slice(0, size);
      if (reports.length === 0) return;
      let results: { status: string }[] = [];
      try {
        results = await send(user, reports, init);
      } catch (error) {
        if (!(error instanceof SoundsError) || error.code !== 'invalid_request') throw error;
        // A report is invalid, so none was accepted. Send halves until it is rejected alone and dropped.
        if (reports.length > 1) {
          size = Math.ceil(reports.length / 2);
          continue;
        }
        size = batchSize;
      }
      await unsent.update(user, (left) => {
        for (const [n, [key, sent]] of reports.entries()) {
          if (left[key]?.[time] !== sent[time]) continue; // a newer report has replaced it meanwhile
          delete left[key];
          const { ahead_ms, ...report } = sent;
          if (results[n]?.status === 'in_future' && ahead_ms !== undefined)
            left[key] = { ...report, [time]: corrected(Date.parse(sent[time]) + ahead_ms) } as Entry;
        }
      });
    }
  }

  const exclusively = (user: string, task: () => Promise<void>, options?: CallOptions) =>
    unsent.sending(user, timeLimitMs, task, options?.signal);

  /** @param sender session to send with, which may be over on this device */
  async function flush(options?: CallOptions, sender = session): Promise<void> {
    const user = (await sender.load())?.user.id;
    if (user !== undefined) await exclusively(user, () => sendAll(user, sender, options), options);
  }

  return {
    ...unsent,
    exclusively,
    sendAll,
    flush,

    /** Stores a report, and sends it later with others. */
    async add(user: string, key: string, report: Entry) {
      await unsent.update(user, (entries) => {
        entries[key] = report;
      });
      if (isGathering) return;
      isGathering = true;
      setTimeout(() => {
        isGathering = false;
        flush().catch(() => {}); // unsent reports stay in the store
      }, gatherMs);
    },
  };
}
