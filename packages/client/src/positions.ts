import { dataOf, signalOf } from './call.ts';
import type { Init, Results } from './delivery.ts';
import { bySound } from './entries.ts';
import { createOutbox } from './outbox.ts';
import type { Parts } from './parts.ts';
import type { ProgressEntry } from './resources.ts';

/** Time in which positions are collected for one request. */
const gatherMs = 15_000;

/** A position, or the removal of one. */
export interface Unsent {
  position_sec: number | null;
  updated_at: string;
  ahead_ms?: number;
}

/** Entries by the ids of their sounds. */
type Copied = Record<string, ProgressEntry>;

export type Positions = ReturnType<typeof createPositions>;

/** Keeps positions on the device: unsent ones in an outbox, and a copy of the list of the service. */
export function createPositions(parts: Parts) {
  const { session, progressCopy: copy, withCovers } = parts;
  const kind = { name: 'progress', time: 'updated_at', field: 'entries', gatherMs } as const;
  const outbox = createOutbox<'updated_at', Unsent>(parts, { ...kind, send });

  async function send(user: string, unsent: [string, Unsent][], init: Init): Promise<Results> {
    const entries = unsent.map(([sound_id, { position_sec, updated_at }]) => ({ sound_id, position_sec, updated_at }));
    const data = await dataOf(init.api.PUT('/progress', { body: { entries }, ...signalOf(init.options) }));
    const results: Results = new Map(data.map(({ sound_id, status }) => [sound_id, status]));
    const saved = unsent.filter(([id]) => results.get(id.toLowerCase()) === 'saved');
    await copy.update(user, (copied) => apply(copied, saved));
    if (data.some(({ status }) => status === 'older')) await receive(user, init);
    return results;
  }

  /** Replaces the copy by the list of the service. Call it in `exclusively`, otherwise it could undo a later change. */
  async function receive(user: string, { api, options }: Init) {
    const data = await withCovers(dataOf(api.GET('/progress', signalOf(options))));
    await copy.replace(user, bySound(data));
  }

  return {
    outbox,
    receive,

    /** Returns the positions of the copy with unsent changes. */
    async current(): Promise<Copied> {
      const { user } = await session.current();
      const unsent = await outbox.read(user.id); // first, because sending moves entries into the copy
      const copied = await copy.read(user.id);
      apply(copied, Object.entries(unsent));
      return copied;
    },
  };
}

/** Applies positions to a copy, unless it contains newer ones of other devices. */
function apply(copied: Copied, changes: [string, Unsent][]) {
  for (const [sound_id, { position_sec, updated_at }] of changes) {
    const { sounds = null, ...known } = copied[sound_id] ?? { updated_at: '' };
    if (known.updated_at > updated_at) continue;
    if (position_sec === null) delete copied[sound_id];
    else copied[sound_id] = { sound_id, position_sec, updated_at, sounds };
  }
}
