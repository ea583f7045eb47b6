import type { FlushOptions } from './call.ts';
import { createDelivery, type DeliveryOptions, type Init, type Report } from './delivery.ts';
import { createEntries } from './entries.ts';
import type { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';
import { createFlush } from './refusal.ts';

/** Maximum number of reports in one request. */
const batchSize = 100;

type Options<Time extends string, Entry> = DeliveryOptions<Time, Entry> & {
  name: string;
  /** Time in which reports are collected for one request. */
  gatherMs: number;
};

/** Keeps reports of a user, such as plays, until they are sent. Those with an equal key replace each other. */
export function createOutbox<Time extends string, Entry extends Report<Time>>(
  { session, waiting, store }: Parts,
  options: Options<Time, Entry>,
) {
  const unsent = createEntries<Entry>(store, options.name);
  /** Reports that are being stored, by their keys. */
  const fresh = new Map<string, { user: string; report: Entry }>();
  let isGathering = false;
  const { flush, refuse } = createFlush(send);
  const deliver = createDelivery(options, unsent, waiting.service, refuse);

  /**
   * Sends all reports of a user in batches, and each report once. Call it in `exclusively`.
   * @throws SoundsError if reports are kept, at the end
   */
  async function sendAll(user: string, init: Init) {
    const tried = new Set<string>();
    const idOf = ([key, report]: [string, Entry]) => key + report[options.time]; // a newer one may replace a report
    let kept: SoundsError | undefined;
    for (;;) {
      const untried = Object.entries(await unsent.read(user)).filter((entry) => !tried.has(idOf(entry)));
      if (untried.length === 0) break;
      const reports = untried.slice(0, batchSize);
      for (const entry of reports) tried.add(idOf(entry));
      const error = await deliver(user, reports, init);
      kept ??= error;
    }
    if (kept) throw kept;
  }

  /** Sends the newest reports of a user in one request, which outlives the page. */
  async function sendAndLeave(user: string, call: FlushOptions) {
    const stored = await unsent.read(user);
    for (const [key, { user: owner, report }] of fresh) if (owner === user) stored[key] = report;
    const reports = Object.entries(stored).slice(-batchSize);
    const api = session.api({ userId: user, repeatable: false });
    if (reports.length > 0) await deliver(user, reports, { api, options: call });
  }

  const exclusively = (user: string, task: () => Promise<void>, call?: FlushOptions) =>
    unsent.sending(user, waiting.timeLimitMs, task, call?.signal);

  /** Sends all reports of the user. @param sender session to send with, which may have ended on this device */
  async function send(call?: FlushOptions, sender = session): Promise<void> {
    const user = (await sender.load())?.user.id;
    if (user === undefined) return;
    if (call?.keepalive) await sendAndLeave(user, call);
    else await exclusively(user, () => sendAll(user, { api: sender.api({ userId: user }), options: call }), call);
  }

  /** Stores a report, and sends it later with others. */
  async function add(user: string, key: string, report: Entry) {
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
    }, options.gatherMs);
  }

  return { ...unsent, exclusively, sendAll, send, flush, add };
}
