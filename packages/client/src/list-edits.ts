import type { CallOptions } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import { SoundsError, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import {
  batchesOf,
  createListCalls,
  type Edit,
  isRefusal,
  isTooLarge,
  type Result,
  type StoredList,
  withoutPreviews,
} from './list-calls.ts';
import { type Content, fits, merge } from './list-merge.ts';
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
  /** Edits that would exceed a maximum of the service, with their errors. A removal or a restart sends them again. */
  const held = new Map<string, SoundsError>();
  /** Error of an edit that the service has rejected. */
  let refusal: SoundsError | undefined;

  const isSignedIn = async (user: string) => (await api.auth.user())?.id === user;

  /** Sends edits in one request. @returns the ids of those that must be sent once more */
  async function sendBatch(user: string, edits: [string, Edit][], options?: CallOptions): Promise<string[]> {
    let results: Result[];
    try {
      results = await calls.put(user, edits, options);
    } catch (error) {
      if (!isRefusal(error) && !isTooLarge(error)) throw error;
      if (edits.length > 1) return inTurn(edits, (edit) => sendBatch(user, [edit], options));
      if (!isRefusal(error)) throw error;
      refusal ??= error;
      await unsent.update(user, (left) => drop(left, edits));
      return [];
    }
    return inTurn(edits, async ([id, edit], place) => settle(user, id, edit, results[place] as Result));
  }

  /** Applies the result of an edit to the device. @returns its id if it must be sent once more */
  async function settle(user: string, id: string, sent: Edit, result: Result): Promise<string[]> {
    const { list } = result;
    if (await isSignedIn(user))
      await copy.update(user, (lists) => {
        if (list) lists[id] = list;
        else delete lists[id];
      });
    await unsent.update(user, (edits) => {
      const edit = edits[id];
      if (!edit) return; // the account was deleted meanwhile
      const left = editAfter(result, edit, sent);
      if (left === null) delete edits[id];
      else if ('mine' in left) edits[id] = left;
      else held.set(id, left);
    });
    return id in (await unsent.read(user)) && !held.has(id) ? [id] : [];
  }

  /** Sends all edits of a user that are not held. Call it in `exclusively`. */
  async function sendAll(user: string, options?: CallOptions) {
    let ids = Object.keys(await unsent.read(user)).filter((id) => !held.has(id));
    for (let round = 0; round < rounds && ids.length > 0; round += 1) {
      const edits = Object.entries(await unsent.read(user)).filter(([id]) => ids.includes(id));
      edits.sort(([, a], [, b]) => Number(a.mine !== null) - Number(b.mine !== null)); // removals first make room
      ids = await inTurn(batchesOf(edits), (batch) => sendBatch(user, batch, options));
      changed();
    }
    if (ids.length > 0) throw outrun();
  }

  const exclusively = (user: string, task: () => Promise<void>, options?: CallOptions) =>
    unsent.sending(user, sendingLimitMs, task, options?.signal);

  async function send(options?: CallOptions): Promise<void> {
    const user = (await api.auth.user())?.id;
    if (user !== undefined) await exclusively(user, () => sendAll(user, options), options);
  }

  return {
    ...unsent,
    held,
    send,

    /** Sends unsent edits, and replaces the copy by the lists of the service, while no edit is being sent. */
    sync: (user: string, options?: CallOptions) =>
      exclusively(
        user,
        async () => {
          await sendAll(user, options);
          const lists = await calls.get(user, options);
          if (await isSignedIn(user))
            await copy.replace(user, Object.fromEntries(lists.map((list) => [list.id, list])));
          changed();
        },
        options,
      ),

    /** Sends all edits. @throws SoundsError at the end if one was rejected, or stays on the device */
    async flush(options?: CallOptions): Promise<void> {
      await send(options);
      const [error = refusal] = held.values();
      refusal = undefined;
      if (error) throw error;
    },
  };
}

/** Returns the error of an edit that stays because another device was faster each time. It is sent again later. */
const outrun = () =>
  new SoundsError('Another device keeps changing the list. The edit is sent again later.', {
    status: 0,
    code: 'no_answer',
  });

/**
 * Returns what is left of an edit after a result: null if it is over, an error if it exceeds a maximum.
 * @param edit the edit now, which the user may have changed since it was sent
 */
function editAfter({ status, list }: Result, edit: Edit, sent: Edit): Edit | SoundsError | null {
  if (status === 'deleted' || (status === 'saved' && isEqual(edit, sent))) return null;
  if (list && status === 'saved') return { ...edit, ...baseOf(list) };
  if (!list || status !== 'changed') return tooMany();
  const mine = edit.mine && merge(edit.base, edit.mine, list);
  return mine && !fits(mine) ? tooMany() : { ...baseOf(list), mine, updated_at: edit.updated_at };
}

const baseOf = (list: StoredList) => ({ base: withoutPreviews(list), version: list.version });

/** Runs a task for one value after the other, and joins the results. */
async function inTurn<T, R>(values: T[], task: (value: T, place: number) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const [place, value] of values.entries()) results.push(...(await task(value, place)));
  return results;
}

const isEqual = (one: Edit, other: Edit) => JSON.stringify(one) === JSON.stringify(other);

/** Removes edits, unless they have changed meanwhile. */
function drop(left: Record<string, Edit>, edits: [string, Edit][]) {
  for (const [id, sent] of edits) if (left[id] && isEqual(left[id], sent)) delete left[id];
}
