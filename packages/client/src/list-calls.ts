import { type CallOptions, signalOf } from './call.ts';
import { noAnswer } from './error.ts';
import type { Sounds } from './index.ts';
import type { Content } from './list-merge.ts';
import type { Schema } from './schema.ts';
import { isAnswerTo } from './shape.ts';

/** A mix or playlist of the user, as the service has it. */
export type StoredList = Schema<'SavedList'>;

/** An unsent edit of a list. */
export interface Edit {
  /** Content that the service had when the edit began; null for a new list. */
  serviceState: Content | null;
  /** Version of `serviceState`; 0 for a new list. */
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
const withoutPreviews = ({ name, is_mix, items }: Content): Content => ({
  name,
  is_mix,
  items: items.map(({ sound_id, volume }) => ({ sound_id, volume })),
});

/** Returns what an edit of a list begins from. */
export const beginningOf = (list: StoredList) => ({ serviceState: withoutPreviews(list), version: list.version });

/** Creates the calls of `/lists`. They reject if another user is signed in. */
export function createListCalls(api: Pick<Sounds, 'fetch'>) {
  async function call<T>(userId: string, init: RequestInit): Promise<T[]> {
    const isAnswer = (body: unknown) => isAnswerTo('GET /lists', body);
    const response = await api.fetch('/lists', init, { userId, isAnswer });
    return ((await response.json()) as { data: T[] }).data;
  }

  return {
    /** Returns all lists of the user. */
    async get(userId: string, options?: CallOptions): Promise<StoredList[]> {
      const lists = await call<StoredList>(userId, signalOf(options));
      if (!lists.every(({ items }) => Array.isArray(items))) throw noAnswer();
      return lists;
    },

    /** Sends edits. @returns their results by the ids of the lists, without those that the answer lacks */
    async put(userId: string, edits: [string, Edit][], options?: CallOptions): Promise<Map<string, Result>> {
      const body = JSON.stringify({ lists: edits.map(toRequest) });
      const headers = { 'Content-Type': 'application/json' };
      const results = await call<Result>(userId, { method: 'PUT', body, headers, ...signalOf(options) });
      return new Map(results.filter(({ status }) => typeof status === 'string').map((result) => [result.id, result]));
    },
  };
}

/** Returns an entry of a request. The service ignores name and kind of a list that is removed. */
function toRequest([id, { mine, version }]: [string, Edit]) {
  const content = mine ? withoutPreviews(mine) : { name: '-', is_mix: false, items: null };
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
