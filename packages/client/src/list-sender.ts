import type { CallOptions } from './call.ts';
import type { Entries } from './entries.ts';
import { SoundsError, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import { batchesOf, getLists } from './list-calls.ts';
import type { StoredList } from './list-content.ts';
import { createListDelivery, inTurn } from './list-delivery.ts';
import type { Edit } from './list-edit.ts';
import { createFlush } from './refusal.ts';

/** Time limit for sending. A call waits for other tabs for half of it. */
const sendingLimitMs = 60_000;

/** Number of times that a call sends an edit: as it is, then merged with a newer version of the list. */
const rounds = 2;

/**
 * Sends unsent edits of lists, one call at a time in all tabs, and gets the lists of the service.
 * @param copy lists as the service had them last
 * @param changed called after each change on the device
 */
export function createListSender(
  api: Pick<Sounds, 'fetch' | 'auth'>,
  copy: Entries<StoredList>,
  unsent: Entries<Edit>,
  changed: () => void,
) {
  /**
   * Ids of lists whose edits exceed a maximum of the service. They are not sent again before a save of that list, a
   * removal of any, a change of the user, or a restart.
   */
  const exceeding = new Set<string>();
  const { flush, refuse } = createFlush(send);

  /** Sends all edits of the user. @throws SoundsError at the end if one stays on the device */
  async function send(options?: CallOptions): Promise<void> {
    const user = (await api.auth.user())?.id;
    if (user === undefined) return;
    const kept = await asOnlySender(user, () => sendAll(user, options), options);
    if (kept) throw kept;
  }

  const asOnlySender = <T>(user: string, task: () => Promise<T>, options?: CallOptions) =>
    unsent.sending(user, sendingLimitMs, task, options?.signal);

  /**
   * Sends all edits of a user that do not exceed a maximum. Call it in `asOnlySender`.
   * @returns the error of an edit that stays on the device, if there is one
   */
  async function sendAll(user: string, options?: CallOptions): Promise<SoundsError | undefined> {
    let kept: SoundsError | undefined;
    const keep = (error: SoundsError) => {
      kept ??= error;
    };
    const deliver = createListDelivery(api, copy, unsent, { refuse, keep, exceeding });
    const waiting = await unsent.read(user);
    if (Object.values(waiting).some(({ mine }) => mine === null)) exceeding.clear(); // there may be room after a removal
    let ids = Object.keys(waiting).filter((id) => !exceeding.has(id));
    for (let round = 0; round < rounds && ids.length > 0; round += 1) {
      const edits = Object.entries(await unsent.read(user)).filter(([id]) => ids.includes(id));
      ids = await inTurn(batchesOf(removalsFirst(edits)), (batch) => deliver(user, batch, options));
      changed();
    }
    if (ids.length > 0) keep(outrun());
    if (Object.keys(waiting).some((id) => exceeding.has(id))) keep(tooMany());
    return kept;
  }

  /** Replaces the copy by the lists of the service. Call it in `asOnlySender`, after `sendAll`. */
  async function receive(user: string, options?: CallOptions) {
    const lists = await getLists(api, user, options);
    await copy.replace(user, Object.fromEntries(lists.map((list) => [list.id, list])));
    changed();
  }

  /** Sends all edits, then reads the lists. Edits that stay are no error here. */
  const sync = (user: string, options?: CallOptions): Promise<void> =>
    asOnlySender(user, () => sendAll(user, options).then(() => receive(user, options)), options);

  return { exceeding, send, flush, sync };
}

/** Sorts removals before other edits, because they make room. */
const removalsFirst = (edits: [string, Edit][]) =>
  edits.sort(([, a], [, b]) => Number(a.mine !== null) - Number(b.mine !== null));

/**
 * Returns the error of an edit that stays because another device was faster each time, or because the user kept editing.
 * It is sent again later.
 */
const outrun = () =>
  new SoundsError('Another device was faster.', {
    status: 0,
    code: 'no_answer',
  });
