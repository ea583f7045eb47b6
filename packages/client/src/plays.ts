import { answer, type CallOptions, signalOf } from './call.ts';
import { previewOf } from './catalogue.ts';
import { createEntries } from './entries.ts';
import { SoundsError } from './error.ts';
import type { Parts } from './parts.ts';

/** Maximum number of plays in one request. */
const batchSize = 100;

/** Time in which plays are collected for one request, so that skipping through a list takes few requests. */
const gatherMs = 5_000;

/** Makes a UUID without crypto.randomUUID, which pages without https lack. */
const newId = () =>
  globalThis.crypto?.randomUUID?.() ??
  'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.floor(Math.random() * 16).toString(16));

interface UnsentPlay {
  sound_id: string;
  /** Time on the clock of the service. */
  played_at: string;
  /** Milliseconds by which the clock of this device seemed to be ahead; undefined if `played_at` is final. */
  ahead_ms?: number;
}

/** Records plays. Each is counted once, even if it is sent later. */
export interface Plays extends Omit<ReturnType<typeof createPlays>, 'forget'> {}

export function createPlays({ api, session, waiting: { timeLimitMs, service }, store, historyCopy, find }: Parts) {
  const unsent = createEntries<UnsentPlay>(store, 'plays');

  let isGathering = false;
  /** Returns a time on the clock of this device by the clock of the service, and at most now. */
  const corrected = (deviceMs: number) => new Date(Math.min(deviceMs, Date.now()) - service.aheadMs()).toISOString();

  async function flush(options?: CallOptions): Promise<void> {
    const user = (await session.load())?.user.id;
    if (user === undefined) return;
    const fetch = (request: Request) => session.fetch(request, { userId: user });
    const sendAll = async () => {
      for (let size = batchSize; ; ) {
        const entries = Object.entries(await unsent.read(user)).slice(0, size);
        if (entries.length === 0) return;
        const plays = entries.map(([id, { sound_id, played_at }]) => ({ id, sound_id, played_at }));
        const early = new Set<string>();
        try {
          const { data } = await answer(api.POST('/plays', { body: { plays }, fetch, ...signalOf(options) }));
          for (const { id, status } of data) if (status === 'in_future') early.add(id);
        } catch (error) {
          if (!(error instanceof SoundsError) || error.code !== 'invalid_request') throw error;
          // A play is invalid, so none was counted. Send halves until the invalid play is rejected alone and dropped.
          if (plays.length > 1) {
            size = Math.ceil(plays.length / 2);
            continue;
          }
          size = batchSize;
        }
        await unsent.update(user, (left) => {
          for (const [id, { sound_id, played_at, ahead_ms }] of entries) {
            delete left[id];
            if (early.has(id) && ahead_ms !== undefined)
              left[id] = { sound_id, played_at: corrected(Date.parse(played_at) + ahead_ms) };
          }
        });
      }
    };
    await unsent.sending(user, timeLimitMs, sendAll, options?.signal);
  }

  return {
    /**
     * Counts a play. Call it once when playback starts. Resolves when the play is stored; it is sent with others after
     * five seconds, or when the network is back.
     * @param playedAt time on the clock of this device, which the client corrects by the clock of the service
     */
    async record(id: string, playedAt = new Date(Date.now())): Promise<void> {
      const isPast = playedAt.getTime() <= Date.now();
      const { user, clock_ahead_ms: ahead_ms } = await session.current();
      const played_at = new Date(playedAt.getTime() - ahead_ms).toISOString();
      await unsent.update(user.id, (entries) => {
        entries[newId()] = { sound_id: id, played_at, ...(isPast && { ahead_ms }) };
      });
      const sound = await find(id);
      await historyCopy.update(user.id, (entries) => {
        const { plays = 0, sounds = sound && previewOf(sound) } = entries[id] ?? {};
        entries[id] = { sound_id: id, last_played_at: played_at, plays: plays + 1, sounds };
      });
      if (isGathering) return;
      isGathering = true;
      setTimeout(() => {
        isGathering = false;
        flush().catch(() => {}); // unsent plays stay in the store
      }, gatherMs);
    },

    /** Sends unsent plays; see `favorites.flush`. */
    flush,

    forget: unsent.forget,
  };
}
