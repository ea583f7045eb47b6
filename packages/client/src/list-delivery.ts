import type { CallOptions } from './call.ts';
import type { Entries } from './entries.ts';
import { noAnswer, type SoundsError } from './error.ts';
import { beginningOf, type createListCalls, type Edit, type Result, type StoredList } from './list-calls.ts';
import { fits, merge } from './list-merge.ts';
import { canGoOn, isRefusal, isTooLarge } from './refusal.ts';

interface Options {
  put: ReturnType<typeof createListCalls>['put'];
  unsent: Entries<Edit>;
  copy: Entries<StoredList>;
  /** Receives the error of an edit that the service has rejected, which is dropped. */
  refuse: (error: SoundsError) => void;
  /** Receives the error of an edit that stays on the device. */
  keep: (error: SoundsError) => void;
  /** Receives the ids of lists whose edits exceed a maximum of the service. These edits stay on the device. */
  exceeding: Set<string>;
}

/**
 * Creates a function that sends edits in one request, and applies the results to the device, by the rules in
 * docs/apps.md. It sends them one by one if one is wrong, or the request too large.
 * @returns a function that returns the ids of lists whose edits must be sent once more
 */
export function createListDelivery({ put, unsent, copy, refuse, keep, exceeding }: Options) {
  /** Applies the result of an edit to the device. @returns its id if it must be sent once more */
  async function settle(user: string, id: string, sent: Edit, result?: Result): Promise<string[]> {
    const again: string[] = [];
    if (!result) {
      keep(noAnswer());
      return again;
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
      else if (next === null) exceeding.add(id);
      else {
        edits[id] = next;
        again.push(id);
      }
    });
    return again;
  }

  return async function deliver(user: string, edits: [string, Edit][], options?: CallOptions): Promise<string[]> {
    try {
      const results = await put(user, edits, options);
      return await inTurn(edits, ([id, edit]) => settle(user, id, edit, results.get(id)));
    } catch (error) {
      if (edits.length > 1 && (isRefusal(error, 'lists') || isTooLarge(error)))
        return inTurn(edits, (edit) => deliver(user, [edit], options));
      if (isRefusal(error, 'lists')) {
        refuse(error);
        await unsent.update(user, (left) => drop(left, edits));
      } else if (canGoOn(error)) keep(error);
      else throw error;
      return [];
    }
  };
}

/**
 * Tells whether nothing of an edit is left to send. A removal is done when the service has no list, even if the app has
 * removed it a second time meanwhile.
 * @param edit the edit now, which may be newer than the sent one
 */
const isDone = ({ status, list }: Result, edit: Edit, sent: Edit) =>
  status === 'deleted' || (status === 'saved' && (edit.mine ? isEqual(edit, sent) : !list));

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
export async function inTurn<T, R>(values: T[], task: (value: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) results.push(...(await task(value)));
  return results;
}

const isEqual = (one: Edit, other: Edit) => JSON.stringify(one) === JSON.stringify(other);

/** Removes edits, unless they have changed meanwhile. */
function drop(left: Record<string, Edit>, edits: [string, Edit][]) {
  for (const [id, sent] of edits) if (left[id] && isEqual(left[id], sent)) delete left[id];
}
