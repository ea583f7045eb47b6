import type { Client } from 'openapi-fetch';
import { answer, type CallOptions, signalOf } from './call.ts';
import { type Finder, previewOf } from './catalogue.ts';
import type { paths } from './document.types.ts';
import { createEntries, type Entries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { HistoryEntry } from './history.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/** What one call of the service takes. */
const batchSize = 100;

/** Plays of this time are sent together, so that skipping through a list takes few requests. */
const gatherMs = 5_000;

/** Unique on every device: not everywhere is there crypto.randomUUID, as on pages without https. */
const newId = () =>
  globalThis.crypto?.randomUUID?.() ??
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16));

/** What was listened to, which is counted once, also when it could only be sent later. */
export interface Plays extends Omit<ReturnType<typeof createPlays>, 'forget'> {}

export function createPlays({
  api,
  session,
  store,
  history,
  find,
}: {
  api: Client<paths>;
  session: DeviceSession;
  store: Store;
  history: Entries<HistoryEntry>;
  find: Finder;
}) {
  const waiting = createEntries<{ sound_id: string; played_at: string }>(store, 'plays');

  let isGathering = false;

  async function flush(options?: CallOptions): Promise<void> {
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    const fetch = (request: Request) => session.fetch(request, { userId: user });
    await waiting.sending(user, async () => {
      for (let size = batchSize; ; ) {
        const entries = Object.entries(await waiting.read(user)).slice(0, size);
        if (entries.length === 0) return;
        const plays = entries.map(([id, play]) => ({ id, ...play }));
        try {
          await answer(api.POST('/plays', { body: { plays }, fetch, ...signalOf(options) }));
        } catch (error) {
          if (!(error instanceof SoundsError) || error.code !== 'invalid_request') throw error;
          // One of them is broken, and none was counted: the one that is rejected alone is dropped.
          if (plays.length > 1) {
            size = Math.ceil(plays.length / 2);
            continue;
          }
          size = batchSize;
        }
        await waiting.update(user, (left) => {
          for (const { id } of plays) delete left[id];
        });
      }
    });
  }

  return {
    /**
     * Counts a play: call it once, when playback starts. Resolves when that is stored. It is sent with others after five
     * seconds, or when there is a network.
     * @param playedAt by the clock of this device, which may be wrong: the service's is used instead
     */
    async record(id: string, playedAt = new Date()): Promise<void> {
      const { user, clock_ahead_ms } = await session.current();
      const played_at = new Date(playedAt.getTime() - clock_ahead_ms).toISOString();
      await waiting.update(user.id, (entries) => {
        entries[newId()] = { sound_id: id, played_at };
      });
      const sound = await find(id);
      await history.update(user.id, (entries) => {
        const { plays = 0, sounds = sound && previewOf(sound) } = entries[id] ?? {};
        entries[id] = { sound_id: id, last_played_at: played_at, plays: plays + 1, sounds };
      });
      if (isGathering) return;
      isGathering = true;
      setTimeout(() => {
        isGathering = false;
        flush().catch(() => {}); // they go on waiting
      }, gatherMs);
    },

    /** Sends what waits; see `favorites.flush`. */
    flush,

    forget: waiting.forget,
  };
}
