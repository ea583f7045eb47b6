import type { CallOptions } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import { noAnswer, SoundsError, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import { batchesOf, beginningOf, createListCalls, type Edit, type Result, type StoredList } from './list-calls.ts';
import { type Content, fits, merge } from './list-merge.ts';
import { canGoOn, createFlush, isRefusal, isTooLarge } from './refusal.ts';
import type { Store } from './store.ts';

/** Time limit for sending. A call waits for other tabs for half of it. */
const sendingLimitMs = 60_000;

/** Number of times that a call sends an edit: as it is, then merged with a newer version of the list. */
const rounds = 2;

export const contentOf = ({ name, is_mix, items }: Content): Content => ({ name, is_mix, items });

interface Options {
  api: Pick<Sounds, 'fetch' | 'auth'>;
  store: Store;
  copy: Entries<StoredList>;
  /** Called after each change on the device. */
  changed: () => void;
}

/** Keeps edits of lists until they are sent, and merges those that began from an older state. */
export function createListEdits({ api, store, copy, changed }: Options) {
  const calls = createListCalls(api);
  const unsent = createEntries<Edit>(store, 'lists');
  /**
   * Ids of lists whose edits exceed a maximum of the service. They are not sent again before a save of that list, a
   * removal of any, a change of the user, or a restart.
   */
  const exceeding = new Set<string>();
  /** Error of an edit that stays for another reason. */
  let kept: SoundsError | undefined;
  const { flush, refuse } = createFlush(async (options?: CallOptions) => {
    await send(options);
    if (kept) throw kept;
    if (exceeding.size > 0) throw tooMany();
  });

  /** Sends edits in one request. @returns the ids of those that must be sent once more */
  async function sendBatch(user: string, edits: [string, Edit][], options?: CallOptions): Promise<string[]> {
    try {
      const results = await calls.put(user, edits, options);
      return await inTurn(edits, ([id, edit]) => settle(user, id, edit, results.get(id)));
    } catch (error) {
      if (edits.length > 1 && (isRefusal(error, 'lists') || isTooLarge(error)))
        return inTurn(edits, (edit) => sendBatch(user, [edit], options));
      if (isRefusal(error, 'lists')) {
        refuse(error);
        await unsent.update(user, (left) => drop(left, edits));
      } else if (canGoOn(error)) kept ??= error;
      else throw error;
      return [];
    }
  }

  /** Applies the result of an edit to the device. @returns its id if it must be sent once more */
  async function settle(user: string, id: string, sent: Edit, result?: Result): Promise<string[]> {
    if (!result) {
      kept ??= noAnswer();
      return [];
    }
    const { list } = result;
    await copy.update(user, (lists) => {
      if (list) lists[id] = list;
      else delete lists[id];
    });
    await unsent.update(user, (edits) => {
      const edit = edits[id];
      if (!edit) return; // the account was deleted meanwhile
      const next = editAfter(result, edit);
      if (isDone(result, edit, sent)) delete edits[id];
      else if (next) edits[id] = next;
      else exceeding.add(id);
    });
    return id in (await unsent.read(user)) && !exceeding.has(id) ? [id] : [];
  }

  /** Sends all edits of a user that do not exceed a maximum. Call it in `exclusively`. */
  async function sendAll(user: string, options?: CallOptions) {
    kept = undefined;
    let ids = Object.keys(await unsent.read(user)).filter((id) => !exceeding.has(id));
    for (let round = 0; round < rounds && ids.length > 0; round += 1) {
      const edits = Object.entries(await unsent.read(user)).filter(([id]) => ids.includes(id));
      edits.sort(([, a], [, b]) => Number(a.mine !== null) - Number(b.mine !== null)); // removals first make room
      ids = await inTurn(batchesOf(edits), (batch) => sendBatch(user, batch, options));
      changed();
    }
    if (ids.length > 0) kept ??= outrun();
  }

  const exclusively = (user: string, task: () => Promise<void>, options?: CallOptions) =>
    unsent.sending(user, sendingLimitMs, task, options?.signal);

  async function send(options?: CallOptions): Promise<void> {
    const user = (await api.auth.user())?.id;
    if (user !== undefined) await exclusively(user, () => sendAll(user, options), options);
  }

  return {
    ...unsent,
    exceeding,
    send,

    /** Sends unsent edits, and replaces the copy by the lists of the service, while no edit is being sent. */
    sync: (user: string, options?: CallOptions) =>
      exclusively(
        user,
        async () => {
          await sendAll(user, options);
          const lists = await calls.get(user, options);
          await copy.replace(user, Object.fromEntries(lists.map((list) => [list.id, list])));
          changed();
        },
        options,
      ),

    /** Sends all edits. @throws SoundsError at the end if one was rejected, or stays on the device */
    flush,
  };
}

/** Returns the error of an edit that stays because another device was faster each time. It is sent again later. */
const outrun = () =>
  new SoundsError('Another device keeps changing the list. The edit is sent again later.', {
    status: 0,
    code: 'no_answer',
  });

/** Tells whether nothing of an edit is left to send. @param edit the edit now, which may be newer than the sent one */
const isDone = ({ status }: Result, edit: Edit, sent: Edit) =>
  status === 'deleted' || (status === 'saved' && isEqual(edit, sent));

/**
 * Returns an edit as it must be sent after a result, with the list of the service as its new beginning.
 * @returns null if it exceeds a maximum
 */
function editAfter({ status, list }: Result, edit: Edit): Edit | null {
  if (list && status === 'saved') return { ...edit, ...beginningOf(list) };
  if (!list || status !== 'changed') return null;
  const mine = edit.mine && merge(edit.serviceState, edit.mine, list);
  return mine && !fits(mine) ? null : { ...edit, ...beginningOf(list), mine };
}

/** Runs a task for one value after the other, and joins the results. */
async function inTurn<T, R>(values: T[], task: (value: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) results.push(...(await task(value)));
  return results;
}

const isEqual = (one: Edit, other: Edit) => JSON.stringify(one) === JSON.stringify(other);

/** Removes edits, unless they have changed meanwhile. */
function drop(left: Record<string, Edit>, edits: [string, Edit][]) {
  for (const [id, sent] of edits) if (left[id] && isEqual(left[id], sent)) delete left[id];
}
