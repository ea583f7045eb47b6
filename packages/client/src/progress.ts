import { answer, type CallOptions, type FlushOptions, signalOf } from './call.ts';
import { previewOf } from './catalogue.ts';
import type { Init, Results } from './delivery.ts';
import { newestFirst } from './entries.ts';
import { createOutbox } from './outbox.ts';
import type { Parts } from './parts.ts';
import type { ProgressEntry } from './resources.ts';

/** Time in which positions are collected for one request. */
const gatherMs = 15_000;

/** A position, or the removal of one. */
type Unsent = { position_sec: number | null; updated_at: string; ahead_ms?: number };

/** Positions at which the user stopped in each sound, on all devices. */
export interface Progress extends Omit<ReturnType<typeof createProgress>, 'send' | 'drop' | 'forget'> {}

export function createProgress(parts: Parts) {
  const { session, waiting, progressCopy: copy, find, covers, restore } = parts;
  const kind = { name: 'progress', time: 'updated_at', field: 'entries', gatherMs } as const;
  const outbox = createOutbox<'updated_at', Unsent>(parts, { ...kind, send });

  async function send(user: string, unsent: [string, Unsent][], init: Init): Promise<Results> {
    const entries = unsent.map(([sound_id, { position_sec, updated_at }]) => ({ sound_id, position_sec, updated_at }));
    const { data } = await answer(init.api.PUT('/progress', { body: { entries }, ...signalOf(init.options) }));
    const results: Results = new Map(data.map(({ sound_id, status }) => [sound_id, status]));
    if (!(await isSignedIn(user))) return results;
    const saved = unsent.filter(([id]) => results.get(id.toLowerCase()) === 'saved');
    await copy.update(user, (copied) => apply(copied, saved));
    if (data.some(({ status }) => status === 'older')) await receive(user, init);
    return results;
  }

  /** Replaces the copy by the list of the service. Call it in `exclusively`, otherwise it could undo a later change. */
  async function receive(user: string, { api, options }: Init) {
    const [{ data }] = await Promise.all([answer(api.GET('/progress', signalOf(options))), covers()]);
    if (await isSignedIn(user))
      await copy.replace(user, Object.fromEntries(data.map((entry) => [entry.sound_id, entry])));
  }

  const isSignedIn = async (user: string) => (await session.load())?.user.id === user;

  /** Applies positions to a copy, unless it contains newer ones of other devices. */
  function apply(copied: Record<string, ProgressEntry>, changes: [string, Unsent][]) {
    for (const [sound_id, { position_sec, updated_at }] of changes) {
      const { sounds = null, ...known } = copied[sound_id] ?? { updated_at: '' };
      if (known.updated_at > updated_at) continue;
      if (position_sec === null) delete copied[sound_id];
      else copied[sound_id] = { sound_id, position_sec, updated_at, sounds };
    }
  }

  /** Returns the positions of the copy with unsent changes. */
  async function current(): Promise<Record<string, ProgressEntry>> {
    const { user } = await session.current();
    const unsent = await outbox.read(user.id); // first, because sending moves entries into the copy
    const copied = await copy.read(user.id);
    apply(copied, Object.entries(unsent));
    return copied;
  }

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

    /** Sends unsent positions and gets those of other devices, which `of` and `list` return. */
    async sync(options?: CallOptions): Promise<void> {
      const user = (await session.current()).user.id;
      const exchange = async () => {
        await outbox.sendAll(user, session, options);
        await receive(user, { api: session.api({ userId: user }), options });
      };
      await outbox.exclusively(user, exchange, options);
    },

    /** Sends unsent positions; see `favorites.flush`. Call it when the app goes to the background. */
    flush: (options?: FlushOptions): Promise<void> => outbox.flush(options),

    /** Sends unsent positions. Leaves the error of a position that the service refused to the next `flush`. */
    send: outbox.send,

    /**
     * Runs a call that removes the position of a sound, by default of all, while no position is being sent. Then
     * removes them from this device, without those that the user has reached since the call.
     */
    async drop(user: string, call: () => Promise<unknown>, id?: string) {
      const calledAt = new Date(Date.now() - waiting.service.aheadMs()).toISOString();
      await outbox.exclusively(user, async () => void (await call()));
      const isDropped = (key: string) => id === undefined || key === id;
      await outbox.update(user, (entries) => {
        for (const [key, { updated_at }] of Object.entries(entries))
          if (isDropped(key) && updated_at <= calledAt) delete entries[key];
      });
      await copy.update(user, (entries) => {
        for (const key of Object.keys(entries)) if (isDropped(key)) delete entries[key];
      });
    },

    forget: outbox.forget,
  };
}
