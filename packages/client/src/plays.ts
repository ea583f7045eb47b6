import { dataOf, signalOf } from './call.ts';
import { previewOf } from './catalogue.ts';
import { createOutbox } from './outbox.ts';
import type { Parts } from './parts.ts';

/** Time in which plays are collected for one request, so that skipping through a list takes few requests. */
const gatherMs = 5_000;

/** Makes a UUID without crypto.randomUUID, which pages without https lack. */
const newId = () =>
  globalThis.crypto?.randomUUID?.() ??
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16));

interface UnsentPlay {
  sound_id: string;
  played_at: string;
  ahead_ms?: number;
}

/** Records plays. Each is counted once, even if it is sent later. */
export interface Plays extends Omit<ReturnType<typeof createPlays>, 'outbox'> {}

export function createPlays(parts: Parts) {
  const { session, historyCopy, find } = parts;
  const outbox = createOutbox<'played_at', UnsentPlay>(parts, {
    name: 'plays',
    time: 'played_at',
    field: 'plays',
    gatherMs,
    async send(_user, unsent, { api, options }) {
      const plays = unsent.map(([id, { sound_id, played_at }]) => ({ id, sound_id, played_at }));
      const data = await dataOf(api.POST('/plays', { body: { plays }, ...signalOf(options) }));
      return new Map(data.map(({ id, status }) => [id, status]));
    },
  });

  return {
    /**
     * Counts a play. Call it once when playback starts. Resolves when the play is stored; it is sent with others after
     * five seconds, or when the network is back.
     * @param playedAt time on the clock of this device, which the client corrects by the clock of the service
     */
    async record(id: string, playedAt = new Date()): Promise<void> {
      const isPast = playedAt <= new Date();
      const { user, clock_ahead_ms: ahead_ms } = await session.current();
      const played_at = new Date(playedAt.getTime() - ahead_ms).toISOString();
      await outbox.add(user.id, newId(), { sound_id: id, played_at, ...(isPast && { ahead_ms }) });
      const sound = await find(id);
      await historyCopy.update(user.id, (entries) => {
        const { plays = 0, sounds = sound && previewOf(sound) } = entries[id] ?? {};
        entries[id] = { sound_id: id, last_played_at: played_at, plays: plays + 1, sounds };
      });
    },

    /** Sends unsent plays; see `favorites.flush`. */
    flush: outbox.flush,

    outbox,
  };
}
