import type { CallOptions } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import { noAnswer, SoundsError, tooMany } from './error.ts';
import type { Sounds } from './index.ts';
import { type Content, fits, merge } from './list-merge.ts';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';

/** A mix or playlist of the user, as the service has it. */
export type StoredList = Schema<'SavedList'>;

/** An unsent edit of a list. */
export interface Edit {
  /** Content that the edit began from; null for a new list. */
  base: Content | null;
  /** Version that the edit began from; 0 for a new list. */
  version: number;
  /** Null removes the list. */
  mine: Content | null;
  updated_at: string;
}

interface Result {
  id: string;
  status: string;
  list: StoredList | null;
}

/** Limits of one request. */
const maxLists = 20;
const maxItems = 1_000;

/** Time limit for sending. A call waits for other tabs for half of it. */
const sendingLimitMs = 60_000;

/** Number of times that a call sends an edit: as it is, then merged with a newer version of the list. */
const rounds = 2;

export const contentOf = ({ name, is_mix, items }: Content): Content => ({ name, is_mix, items });

/** Returns content without previews, which would fill the store. */
export const withoutPreviews = ({ name, is_mix, items }: Content): Content => ({
  ...{ name, is_mix },
  items: items.map(({ sound_id, volume }) => ({ sound_id, volume })),
});

interface Options {
  api: Pick<Sounds, 'fetch' | 'auth'>;
  store: Store;
  copy: Entries<StoredList>;
  /** Called after each change on the device. */
  changed: () => void;
}

/** Keeps edits of lists until they are sent, and merges those that began from an older state. */
export function createListEdits({ api, store, copy, changed }: Options) {
  const unsent = createEntries<Edit>(store, 'lists');
  /** Edits that would exceed a maximum of the service, with their errors. A removal or a restart sends them again. */
  const held = new Map<string, SoundsError>();
  /** Error of an edit that the service has rejected. */
  let refusal: SoundsError | undefined;

  const isSignedIn = async (user: string) => (await api.auth.user())?.id === user;

  /** Calls `PUT /lists` or `GET /lists` as a user. */
  async function request<T>(userId: string, init: RequestInit, isResult: (found: T) => boolean): Promise<T[]> {
    const response = await api.fetch('/lists', init, { userId });
    const { data } = (await response.json()) as { data?: T[] };
    if (!Array.isArray(data) || !data.every(isResult)) throw noAnswer();
    return data;
  }

  /** Sends edits in one request. @returns the ids of those that must be sent once more */
  async function sendBatch(user: string, edits: [string, Edit][], options?: CallOptions): Promise<string[]> {
    const body = JSON.stringify({ lists: edits.map(toRequest) });
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'PUT', body, headers, signal: options?.signal ?? null };
    let results: Result[];
    try {
      results = await request<Result>(user, init, (found) => typeof found?.status === 'string');
    } catch (error) {
      if (!isRefusal(error) && !isTooLarge(error)) throw error;
      if (edits.length > 1) return inTurn(edits, (edit) => sendBatch(user, [edit], options));
      if (!isRefusal(error)) throw error;
      refusal ??= error;
      await unsent.update(user, (left) => drop(left, edits));
      return [];
    }
    if (edits.some(([id], place) => results[place]?.id !== id)) throw noAnswer();
    return inTurn(edits, async ([id, edit], place) => settle(user, id, edit, results[place] as Result));
  }

  /** Applies the answer to an edit. @returns its id if it must be sent once more */
  async function settle(user: string, id: string, sent: Edit, { status, list }: Result): Promise<string[]> {
    if (await isSignedIn(user))
      await copy.update(user, (lists) => {
        if (list) lists[id] = list;
        else delete lists[id];
      });
    await unsent.update(user, (edits) => {
      const edit = edits[id];
      if (!edit) return; // the account was deleted meanwhile
      const isOver = status === 'deleted' || (status === 'saved' && isEqual(edit, sent));
      if (isOver) delete edits[id];
      else if (list && status === 'saved') edits[id] = { ...edit, ...baseOf(list) };
      else if (list && status === 'changed') rebase(edits, id, list);
      else held.set(id, tooMany());
    });
    return id in (await unsent.read(user)) && !held.has(id) ? [id] : [];
  }

  /** Merges an edit into a newer state of its list, or holds it if the result has too many sounds. */
  function rebase(edits: Record<string, Edit>, id: string, list: StoredList) {
    const { base, mine, updated_at } = edits[id] as Edit;
    const merged = mine && merge(base, mine, list);
    if (merged && !fits(merged)) held.set(id, tooMany());
    else edits[id] = { ...baseOf(list), mine: merged, updated_at };
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
          const isList = (found: StoredList) => Array.isArray(found?.items);
          const lists = await request<StoredList>(user, { signal: options?.signal ?? null }, isList);
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

/** Tells whether the service rejects the edit itself. Other errors concern the request. */
const isRefusal = (error: unknown): error is SoundsError =>
  error instanceof SoundsError &&
  (error.reason === 'too_large' || (error.reason === 'validation' && error.field === 'lists'));

/** Tells whether a proxy takes only smaller requests. */
const isTooLarge = (error: unknown) => error instanceof SoundsError && error.status === 413;

/** Returns an entry of a request. The service ignores name and kind of a list that is removed. */
function toRequest([id, { mine, version }]: [string, Edit]) {
  const content = mine ? withoutPreviews(mine) : { name: 'removed', is_mix: false, items: null };
  return { id, ...content, version };
}

const baseOf = (list: StoredList) => ({ base: withoutPreviews(list), version: list.version });

/** Divides edits into requests. */
function batchesOf(edits: [string, Edit][]): [string, Edit][][] {
  const batches: [string, Edit][][] = [];
  let left = 0;
  for (const edit of edits) {
    const count = edit[1].mine?.items.length ?? 0;
    const last = batches.at(-1);
    if (last && last.length < maxLists && count <= left) last.push(edit);
    else {
      batches.push([edit]);
      left = maxItems;
    }
    left -= count;
  }
  return batches;
}

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
