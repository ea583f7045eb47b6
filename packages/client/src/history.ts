import { answer, type CallOptions, signalOf } from './call.ts';
import { bySound } from './entries.ts';
import { loaded } from './loaded.ts';
import { entriesOfPages } from './pages.ts';
import type { HistoryOptions } from './remove-history.ts';
import type { HistoryEntry } from './resources.ts';
import type { Schema } from './schema.ts';

type HistoryPage = Schema<'HistoryListResponse'>;

/** The sounds that the user listened to. */
export interface History extends ReturnType<typeof createHistory> {}

export function createHistory(parts: HistoryOptions) {
  const { api, session, historyCopy: copy, flushPlays, withCovers } = parts;

  async function page(cursor?: string | null, options?: CallOptions): Promise<HistoryPage> {
    const { user } = await session.current();
    if (!cursor) await flushPlays(options);
    const query = { limit: 100, ...(cursor && { cursor }) };
    const found = await withCovers(answer(api.GET('/history', { params: { query }, ...signalOf(options) })));
    if (!cursor) await copy.replace(user.id, bySound(found.data));
    return found;
  }

  async function remove(soundId?: string, options?: CallOptions): Promise<void> {
    const { removeHistory } = await loaded(import('./remove-history.ts'));
    await removeHistory(parts, soundId, options);
  }

  return {
    /** Lists one entry for each sound, the last played first. Each page is requested when it is needed. */
    list: (options?: CallOptions): AsyncGenerator<HistoryEntry, void> =>
      entriesOfPages((cursor) => page(cursor, options)),

    /** Removes all entries, and the positions of all sounds. Plays that are sent later count, but add no entries. */
    clear: (options?: CallOptions): Promise<void> => remove(undefined, options),

    /** Removes the entry of one sound, and its position; see `clear`. */
    remove: (soundId: string, options?: CallOptions): Promise<void> => remove(soundId, options),
  };
}
