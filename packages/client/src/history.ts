import { answer, type CallOptions, signalOf } from './call.ts';
import type { Parts } from './parts.ts';
import type { HistoryEntry } from './resources.ts';
import type { Schema } from './schema.ts';

type HistoryPage = Schema<'HistoryListResponse'>;

type Options = Parts & {
  /** Sends unsent plays, so that the history contains them. */
  flushPlays: (options?: CallOptions) => Promise<void>;
  /** Runs a call that removes the position of a sound, or of all sounds. Then removes it from this device, too. */
  dropProgress: (userId: string, call: () => Promise<unknown>, soundId?: string) => Promise<void>;
};

/** The sounds that the user listened to. */
export interface History extends ReturnType<typeof createHistory> {}

export function createHistory({ api, session, historyCopy: copy, flushPlays, dropProgress, withCovers }: Options) {
  async function page(cursor?: string | null, options?: CallOptions): Promise<HistoryPage> {
    const { user } = await session.current();
    if (!cursor) await flushPlays(options);
    const query = { limit: 100, ...(cursor && { cursor }) };
    const found = await withCovers(answer(api.GET('/history', { params: { query }, ...signalOf(options) })));
    if (!cursor && (await session.current()).user.id === user.id)
      await copy.replace(user.id, Object.fromEntries(found.data.map((entry) => [entry.sound_id, entry])));
    return found;
  }

  return {
    /** Lists one entry for each sound, the last played first. Each page is requested when it is needed. */
    async *list(options?: CallOptions): AsyncGenerator<HistoryEntry, void> {
      let cursor: string | null | undefined;
      do {
        const { data, next_cursor }: HistoryPage = await page(cursor, options);
        yield* data;
        cursor = next_cursor;
      } while (cursor);
    },

    /** Removes all entries, and the positions of all sounds. Plays that are sent later count, but add no entries. */
    async clear(options?: CallOptions): Promise<void> {
      const { user } = await session.current();
      await dropProgress(user.id, () => api.DELETE('/history', signalOf(options)));
      await copy.forget(user.id);
    },

    /** Removes the entry of one sound, and its position; see `clear`. */
    async remove(soundId: string, options?: CallOptions): Promise<void> {
      const { user } = await session.current();
      const init = { params: { path: { soundId } }, ...signalOf(options) };
      await dropProgress(user.id, () => api.DELETE('/history/{soundId}', init), soundId);
      await copy.update(user.id, (entries) => {
        delete entries[soundId];
      });
    },
  };
}
