import type { Client } from 'openapi-fetch';
import { answer, type CallOptions, signalOf } from './call.ts';
import type { paths } from './document.types.ts';
import type { Schema } from './schema.ts';

/** A sound that the user listened to, and when. */
export interface HistoryEntry extends Schema<'HistoryEntry'> {}

type HistoryPage = Schema<'HistoryListResponse'>;

/** What the user listened to. */
export interface History extends ReturnType<typeof createHistory> {}

export function createHistory(api: Client<paths>, covers: () => Promise<void>) {
  async function page(cursor: string | null, options?: CallOptions): Promise<HistoryPage> {
    const query = cursor === null ? {} : { cursor };
    const asked = api.GET('/history', { params: { query }, ...signalOf(options) });
    const [found] = await Promise.all([answer(asked), covers()]);
    return found;
  }

  return {
    /** One entry for each sound, the last played first; each page is fetched when it is needed. */
    async *list(options?: CallOptions): AsyncGenerator<HistoryEntry, void> {
      let cursor: string | null = null;
      do {
        const { data, next_cursor }: HistoryPage = await page(cursor, options);
        yield* data;
        cursor = next_cursor;
      } while (cursor);
    },

    /** Takes everything out. */
    async clear(options?: CallOptions): Promise<void> {
      await api.DELETE('/history', signalOf(options));
    },

    /** Takes one sound out. */
    async remove(soundId: string, options?: CallOptions): Promise<void> {
      await api.DELETE('/history/{soundId}', { params: { path: { soundId } }, ...signalOf(options) });
    },
  };
}
