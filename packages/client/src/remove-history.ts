import { type CallOptions, signalOf } from './call.ts';
import type { Parts } from './parts.ts';
import type { Positions } from './positions.ts';

export interface HistoryOptions extends Parts {
  /** Sends unsent plays, so that the history contains them. */
  flushPlays: (options?: CallOptions) => Promise<void>;
  /** Outbox of positions. */
  positions: Positions['outbox'];
}

/**
 * Removes the entry and the position of a sound, or of all sounds, while no position is being sent. Keeps unsent
 * positions that are newer than the call.
 */
export async function removeHistory(
  { api, session, waiting, historyCopy, progressCopy, positions }: HistoryOptions,
  soundId?: string,
  options?: CallOptions,
): Promise<void> {
  const { user } = await session.current();
  const calledAt = new Date(Date.now() - waiting.service.aheadMs()).toISOString();
  await positions.exclusively(user.id, async () => {
    if (soundId === undefined) await api.DELETE('/history', signalOf(options));
    else await api.DELETE('/history/{soundId}', { params: { path: { soundId } }, ...signalOf(options) });
  });
  const isRemoved = (id: string) => soundId === undefined || id === soundId;
  await positions.update(user.id, (entries) => {
    for (const [id, { updated_at }] of Object.entries(entries))
      if (isRemoved(id) && updated_at <= calledAt) delete entries[id];
  });
  for (const copy of [historyCopy, progressCopy])
    await copy.update(user.id, (entries) => {
      for (const id of Object.keys(entries)) if (isRemoved(id)) delete entries[id];
    });
}
