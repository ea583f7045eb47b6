import { type CallOptions, signalOf } from './call.ts';
import { noAnswer } from './error.ts';
import type { Sounds } from './index.ts';
import { contentOf, type StoredList } from './list-content.ts';
import type { Edit, Result } from './list-edit.ts';
import { isAnswerTo } from './shape.ts';

/** Lists in one request. Five have at most 1,000 items together, the limit of a request. */
const batchSize = 5;

type Api = Pick<Sounds, 'fetch'>;

/** Calls `/lists`. Rejects if another user is signed in. */
async function call<T>(api: Api, userId: string, init: RequestInit): Promise<T[]> {
  const isAnswer = (body: unknown) => isAnswerTo('GET /lists', body);
  const response = await api.fetch('/lists', init, { userId, isAnswer });
  return ((await response.json()) as { data: T[] }).data;
}

/** Returns all lists of the user. */
export async function getLists(api: Api, userId: string, options?: CallOptions): Promise<StoredList[]> {
  const lists = await call<StoredList>(api, userId, signalOf(options));
  if (!lists.every(({ items }) => Array.isArray(items))) throw noAnswer();
  return lists;
}

/** Sends edits. @returns their results by the ids of the lists, without those that the answer lacks in whole or part */
export async function putEdits(
  api: Api,
  userId: string,
  edits: [string, Edit][],
  options?: CallOptions,
): Promise<Map<string, Result>> {
  const body = JSON.stringify({ lists: edits.map(toRequest) });
  const headers = { 'Content-Type': 'application/json' };
  const results = await call<Result>(api, userId, { method: 'PUT', body, headers, ...signalOf(options) });
  const isResult = ({ status, list }: Result) => typeof status === 'string' && (status !== 'changed' || list !== null);
  return new Map(results.filter(isResult).map((result) => [result.id, result]));
}

/** Returns an entry of a request. The service ignores name and kind of a list that is removed. */
function toRequest([id, { mine, version }]: [string, Edit]) {
  const content = mine ? contentOf(mine) : { name: '-', is_mix: false, items: null };
  return { id, ...content, version };
}

/** Divides edits into requests. */
export function batchesOf(edits: [string, Edit][]): [string, Edit][][] {
  const batches: [string, Edit][][] = [];
  for (let first = 0; first < edits.length; first += batchSize) batches.push(edits.slice(first, first + batchSize));
  return batches;
}
