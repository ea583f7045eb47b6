import { answer, type CallOptions, signalOf } from './call.ts';
import type { Parts } from './parts.ts';
import type { HistoryEntry } from './resources.ts';
import type { Schema } from './schema.ts';

type HistoryPage = Schema<'HistoryListResponse'>;

type Options = Parts & {
  /** Sends unsent plays, so that the history contains them. */
  flushPlays: (options?: CallOptions) => Promise<void>;
  /** Removes the position of a sound, by default of all. */
  dropProgress: (userId: string, soundId?: string) => Promise<void>;
};

/** The sounds that the user listened to. */
export interface History extends ReturnType<typeof createHistory> {}

export function createHistory({ api, session, historyCopy: copy, flushPlays, dropProgress, covers }: Options) {
  async function page(cursor?: string | null, options?: CallOptions): Promise<HistoryPage> {
    const { user } = await session.current();
    if (!cursor) await flushPlays(options);
    const query = { limit: 100, ...(cursor && { cursor }) };
    const asked = api.GET('/history', { params: { query }, ...signalOf(options) });
    const [found] = await Promise.all([answer(asked), covers()]);
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

    /** Removes all entries, and the positions of all sounds. */
    async clear(options?: CallOptions): Promise<void> {
      const { user } = await session.current();
      await api.DELETE('/history', signalOf(options));
      await copy.forget(user.id);
      await dropProgress(user.id);
    },

    /** Removes the entry of one sound, and its position. */
    async remove(soundId: string, options?: CallOptions): Promise<void> {
      const { user } = await session.current();
      await api.DELETE('/history/{soundId}', { params: { path: { soundId } }, ...signalOf(options) });
      await copy.update(user.id, (entries) => {
        delete entries[soundId];
      });
      await dropProgress(user.id, soundId);
    },
  };
}
