import type { CallOptions } from './call.ts';
import type { Entries } from './entries.ts';
import { noAnswer, type SoundsError } from './error.ts';
import type { Sounds } from './index.ts';
import { putEdits } from './list-calls.ts';
import type { StoredList } from './list-content.ts';
import { type Edit, editAfterResult, isEqual, type Result } from './list-edit.ts';
import { canSendOthers, isRefusal, isTooLarge } from './refusal.ts';

/** Receives what happened to edits that were not saved. */
interface Failures {
  /** Receives the error of an edit that the service has rejected, which is dropped. */
  refuse: (error: SoundsError) => void;
  /** Receives the error of an edit that stays on the device. */
  keep: (error: SoundsError) => void;
  /** Receives the ids of lists whose edits exceed a maximum of the service. These edits stay on the device. */
  exceeding: Set<string>;
}

/**
 * Creates a function that sends edits in one request, and applies the results to the device, by the rules in
 * docs/apps.md. It sends them one by one if one is wrong, or the request too large. A wrong one is then dropped; at
 * another error of the service it stays.
 * @returns a function that returns the ids of lists whose edits must be sent once more
 */
export function createListDelivery(
  api: Pick<Sounds, 'fetch'>,
  copy: Entries<StoredList>,
  unsent: Entries<Edit>,
  { refuse, keep, exceeding }: Failures,
) {
  async function deliver(user: string, edits: [string, Edit][], options?: CallOptions): Promise<string[]> {
    try {
      const results = await putEdits(api, user, edits, options);
      return await inTurn(edits, ([id, edit]) => settle(user, id, edit, results.get(id)));
    } catch (error) {
      const isWrong = isRefusal(error, 'lists');
      if (edits.length > 1 && (isWrong || isTooLarge(error)))
        return inTurn(edits, (edit) => deliver(user, [edit], options));
      if (isWrong) {
        refuse(error);
        await unsent.update(user, (left) => drop(left, edits));
      } else if (canSendOthers(error)) keep(error);
      else throw error;
      return [];
    }
  }

  /** Applies the result of an edit to the copy, then to the edit. @returns its id if it must be sent once more */
  async function settle(user: string, id: string, sent: Edit, result?: Result): Promise<string[]> {
    let again: string[] = [];
    if (!result) {
      keep(noAnswer()); // the edit stays, because it may not be saved
      return again;
    }
    const { list } = result;
    await copy.update(user, (lists) => {
      if (list) lists[id] = list;
      else delete lists[id];
    });
    await unsent.update(user, (edits) => {
      const edit = edits[id]; // newer than `sent` if the user has changed the list meanwhile
      if (!edit) return; // the account was deleted meanwhile
      const next = editAfterResult(result, edit, sent);
      const mustWait = next === edit && isEqual(edit, sent); // too many lists or sounds, and not changed meanwhile
      if (next === null) delete edits[id];
      else if (mustWait) exceeding.add(id);
      else {
        edits[id] = next;
        again = [id];
      }
    });
    return again;
  }

  return deliver;
}

/** Removes edits, unless they have changed meanwhile. */
function drop(left: Record<string, Edit>, edits: [string, Edit][]) {
  for (const [id, sent] of edits) if (isEqual(left[id], sent)) delete left[id];
}

/** Runs a task for one value after the other, and joins the results. */
export async function inTurn<T, R>(values: T[], task: (value: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const value of values) results.push(...(await task(value)));
  return results;
}
