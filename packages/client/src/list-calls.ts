import type { CallOptions } from './call.ts';
import { noAnswer, SoundsError } from './error.ts';
import type { Sounds } from './index.ts';
import type { Content } from './list-merge.ts';
import type { Schema } from './schema.ts';

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

/** Result of an edit. `list` is the present one, null if there is none. */
export interface Result {
  id: string;
  status: string;
  list: StoredList | null;
}

/** Limits of one request. */
const maxLists = 20;
const maxItems = 1_000;

/** Returns content without previews, which would fill the store. */
export const withoutPreviews = ({ name, is_mix, items }: Content): Content => ({
  ...{ name, is_mix },
  items: items.map(({ sound_id, volume }) => ({ sound_id, volume })),
});

/** Creates the calls of `/lists`. They reject if another user is signed in. */
export function createListCalls(api: Pick<Sounds, 'fetch'>) {
  async function call<T>(userId: string, init: RequestInit, isResult: (found: T) => boolean): Promise<T[]> {
    const response = await api.fetch('/lists', init, { userId });
    const { data } = (await response.json()) as { data?: T[] };
    if (!Array.isArray(data) || !data.every(isResult)) throw noAnswer();
    return data;
  }

  return {
    /** Returns all lists of the user. */
    get: (userId: string, { signal = null }: { signal?: CallOptions['signal'] | null } = {}): Promise<StoredList[]> =>
      call<StoredList>(userId, { signal }, (found) => Array.isArray(found?.items)),

    /** Sends edits. @returns their results, in the same order */
    async put(userId: string, edits: [string, Edit][], options?: CallOptions): Promise<Result[]> {
      const body = JSON.stringify({ lists: edits.map(toRequest) });
      const headers = { 'Content-Type': 'application/json' };
      const init = { method: 'PUT', body, headers, signal: options?.signal ?? null };
      const results = await call<Result>(userId, init, (found) => typeof found?.status === 'string');
      if (edits.some(([id], place) => results[place]?.id !== id)) throw noAnswer();
      return results;
    },
  };
}

/** Tells whether the service rejects the edit itself. Other errors concern the request. */
export const isRefusal = (error: unknown): error is SoundsError =>
  error instanceof SoundsError &&
  (error.reason === 'too_large' || (error.reason === 'validation' && error.field === 'lists'));

/** Tells whether a proxy takes only smaller requests. */
export const isTooLarge = (error: unknown) => error instanceof SoundsError && error.status === 413;

/** Returns an entry of a request. The service ignores name and kind of a list that is removed. */
function toRequest([id, { mine, version }]: [string, Edit]) {
  const content = mine ? withoutPreviews(mine) : { name: 'removed', is_mix: false, items: null };
  return { id, ...content, version };
}

/** Divides edits into requests. */
export function batchesOf(edits: [string, Edit][]): [string, Edit][][] {
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
