import type { CallOptions } from './call.ts';
import { previewOf } from './catalogue.ts';
import { newestFirst } from './entries.ts';
import type { Parts } from './parts.ts';
import { createPositions } from './positions.ts';
import type { ProgressEntry } from './resources.ts';

/** Positions at which the user stopped in each sound, on all devices. */
export interface Progress extends Omit<ReturnType<typeof createProgress>, 'outbox'> {}

export function createProgress(parts: Parts) {
  const { session, find, restore } = parts;
  const { outbox, current, receive } = createPositions(parts);

  return {
    /**
     * Saves where the user is in a sound. Call it as often as every second. Resolves when the position is stored; the
     * newest of each sound is sent every 15 seconds, or when the network is back.
     * @param seconds null removes the position, such as at the end. Invalid numbers, such as NaN, are ignored
     */
    async save(id: string, seconds: number | null): Promise<void> {
      const { user, clock_ahead_ms: ahead_ms } = await session.current();
      if (seconds !== null && !(seconds >= 0)) return;
      const updated_at = new Date(Date.now() - ahead_ms).toISOString();
      await outbox.add(user.id, id, { position_sec: seconds, updated_at, ahead_ms });
    },

    /** Returns the position in a sound in seconds, or null. Needs no network. */
    of: async (id: string): Promise<number | null> => (await current())[id]?.position_sec ?? null,

    /** Lists the positions, newest first. Needs no network. `sounds` is null while a sound is hidden or not copied. */
    async list(): Promise<ProgressEntry[]> {
      await restore();
      const entries = newestFirst(Object.values(await current()), 'updated_at');
      const withSound = async (entry: ProgressEntry) => {
        const sound = entry.sounds ?? (await find(entry.sound_id));
        return { ...entry, sounds: sound && previewOf(sound) };
      };
      return Promise.all(entries.map(withSound));
    },

    /** Sends unsent positions, and gets the positions of other devices, which `of` and `list` then return. */
    async sync(options?: CallOptions): Promise<void> {
      const user = (await session.current()).user.id;
      const init = { api: session.api({ userId: user }), options };
      const exchange = async () => {
        await outbox.sendAll(user, init);
        await receive(user, init);
      };
      await outbox.exclusively(user, exchange, options);
    },

    /** Sends unsent positions; see `favorites.flush`. Call it when the app goes to the background. */
    flush: outbox.flush,

    outbox,
  };
}
