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

/**
 * Keeps reports of a user, such as plays, until they are sent. Those with an equal key replace each other. `add` stores
 * a report and sends it later with others, `send` sends all at once, and `flush` also throws what the service rejected.
 */
export function createOutbox<Time extends string, Entry extends Report<Time>>(
  { session, waiting, store }: Parts,
  options: Options<Time, Entry>,
) {
  const unsent = createEntries<Entry>(store, options.name);
  /** Reports that are being stored, oldest first. */
  const fresh = new Set<{ user: string; key: string; report: Entry }>();
  const { flush, refuse } = createFlush(send);
  const deliver = createDelivery(options, unsent, waiting.service, refuse);
  const sendLater = delayed(() => send().catch(() => {}), options.gatherMs); // unsent reports stay in the store

  /** Stores a report, and sends it later with others. */
  async function add(user: string, key: string, report: Entry) {
    const storing = { user, key, report };
    fresh.add(storing);
    await unsent.update(user, (entries) => {
      entries[key] = report;
    });
    fresh.delete(storing);
    sendLater();
  }

  /** Sends all reports of the user. @param sender session to send with, which may have ended on this device */
  async function send(call?: FlushOptions, sender = session): Promise<void> {
    const user = (await sender.load())?.user.id;
    if (user === undefined) return;
    if (call?.keepalive) await sendAndLeave(user, call);
    else await exclusively(user, () => sendAll(user, { api: sender.api({ userId: user }), options: call }), call);
  }

  /** Sends the newest reports of a user in one request, which outlives the page. */
  async function sendAndLeave(user: string, call: FlushOptions) {
    const stored = await unsent.read(user);
    for (const each of fresh) if (each.user === user) stored[each.key] = each.report;
    const reports = Object.entries(stored).slice(-batchSize);
    const api = session.api({ userId: user, repeatable: false });
    if (reports.length > 0) await deliver(user, reports, { api, options: call });
  }

  const exclusively = (user: string, task: () => Promise<void>, call?: FlushOptions) =>
    unsent.sending(user, waiting.timeLimitMs, task, call?.signal);

  /** Sends all reports of a user, each once. Call it in `exclusively`. @throws SoundsError at the end if some are kept */
  async function sendAll(user: string, init: Init) {
    const tried = new Set<string>();
    let kept: SoundsError | undefined;
    for (;;) {
      // A newer report may replace one that was tried.
      const reports = takeUntried(await unsent.read(user), tried, ([key, report]) => key + report[options.time]);
      if (reports.length === 0) break;
      const error = await deliver(user, reports, init);
      kept ??= error;
    }
    if (kept) throw kept;
  }

  return { ...unsent, exclusively, sendAll, send, flush, add };
}

/** Returns entries that were not tried yet, as many as one request may have, and marks them as tried. */
function takeUntried<Entry>(
  entries: Record<string, Entry>,
  tried: Set<string>,
  idOf: (entry: [string, Entry]) => string,
) {
  const untried = Object.entries(entries).filter((entry) => !tried.has(idOf(entry)));
  const batch = untried.slice(0, batchSize);
  for (const entry of batch) tried.add(idOf(entry));
  return batch;
}

/** Returns a function that runs a task after a time. Calls until then share the run. */
function delayed(task: () => void, ms: number) {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      task();
    }, ms);
  };
}
