import type { CallOptions } from './call.ts';
import { createEntries, type Entries } from './entries.ts';
import { createFavorites, type Favorites } from './favorites.ts';
import { createHistory, type History } from './history.ts';
import { createOffline, type Offline } from './offline.ts';
import type { Parts } from './parts.ts';
import { createPlays, type Plays } from './plays.ts';
import { createProgress, type Progress } from './progress.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/**
 * Creates what the client keeps on the device: outboxes, and copies of favorites, history and positions.
 * @param copies store for copies
 */
export function createUserData(shared: Omit<Parts, 'find'>, copies: Store) {
  const parts: Parts = { ...shared, find: (id) => offline.get(id) };
  const { favoritesCopy, historyCopy, progressCopy } = parts;
  const { outbox: favoriteChanges, ...favorites } = createFavorites(parts);
  const { outbox: unsentPlays, ...plays } = createPlays(parts);
  const { outbox: positions, ...progress } = createProgress(parts);
  const outboxes = [favoriteChanges, unsentPlays, positions];
  // Items of `sounds-client/lists`, which apps without lists do not load.
  const listsCopy = createEntries(copies, 'copy.lists');
  const listEdits = createEntries(parts.store, 'lists');
  const history = createHistory({ ...parts, flushPlays: unsentPlays.send, positions });
  const refresh = async (options?: CallOptions) => {
    await favorites.list(options).next();
    await history.list(options).next();
    await progress.sync(options);
  };
  const offline: Offline = createOffline({ ...parts, copies, refresh });

  return {
    collections: {
      favorites: favorites as Favorites,
      history: history as History,
      plays: plays as Plays,
      progress: progress as Progress,
      offline: offline as Offline,
    },

    /** Unsent changes of each user, also of lists. */
    unsent: [...outboxes, listEdits] as Pick<Entries<unknown>, 'forget'>[],

    /** Reads the copies of favorites, history and positions anew. */
    refresh,

    /** Sends unsent changes. Changes that cannot be sent stay. The next `flush` throws the errors of rejected ones. */
    send() {
      for (const { send } of outboxes) send().catch(() => {});
    },

    /** Sends plays and positions with a session that has ended on this device. */
    sendLast: (sender: DeviceSession, options?: CallOptions) =>
      Promise.allSettled([unsentPlays.send(options, sender), positions.send(options, sender)]),

    /** Removes the copies of a user, also that of lists. */
    forgetCopies({ id }: { id: string }) {
      for (const { forget } of [favoritesCopy, historyCopy, progressCopy, listsCopy]) void forget(id);
    },
  };
}
