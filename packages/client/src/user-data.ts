import type { CallOptions } from './call.ts';
import { createCopy, createEntries } from './entries.ts';
import { createFavorites, type Favorites } from './favorites.ts';
import { createHistory, type History } from './history.ts';
import { createOffline, type Offline } from './offline.ts';
import type { Parts } from './parts.ts';
import { createPlays, type Plays } from './plays.ts';
import { createProgress, type Progress } from './progress.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/** Creates what the client keeps on the device: outboxes and copies of lists. @param copies store for copies */
export function createUserData(shared: Omit<Parts, 'find'>, copies: Store) {
  const parts: Parts = { ...shared, find: (id) => offline.get(id) };
  const { favoritesCopy, historyCopy, progressCopy } = parts;
  const { outbox: favoriteChanges, ...favorites } = createFavorites(parts);
  const { outbox: unsentPlays, ...plays } = createPlays(parts);
  const { outbox: positions, ...progress } = createProgress(parts);
  const outboxes = [favoriteChanges, unsentPlays, positions];
  // Items of `sounds-client/lists`, which apps without lists do not load.
  const listsCopy = createCopy(copies, 'lists');
  const listEdits = createEntries(parts.store, 'lists');
  const history = createHistory({ ...parts, flushPlays: unsentPlays.send, positions });
  const refresh = async (options?: CallOptions) => {
    await favorites.list(options).next();
    await history.list(options).next();
    await progress.sync(options);
  };
  const offline: Offline = createOffline({ ...parts, copies, refresh });

  return {
    lists: {
      favorites: favorites as Favorites,
      history: history as History,
      plays: plays as Plays,
      progress: progress as Progress,
      offline: offline as Offline,
    },

    /** Reads the copies of the user's lists anew. */
    refresh,

    /** Sends unsent changes. Changes that cannot be sent stay. The next `flush` throws the errors of rejected ones. */
    send() {
      for (const { send } of outboxes) send().catch(() => {});
    },

    /** Sends plays and positions with a session that has ended on this device. */
    sendLast: (sender: DeviceSession, options?: CallOptions) =>
      Promise.allSettled([unsentPlays.send(options, sender), positions.send(options, sender)]),

    /** Removes the copies of a user's lists. */
    async forgetCopies({ id }: { id: string }) {
      for (const copy of [favoritesCopy, historyCopy, progressCopy, listsCopy]) await copy.forget(id);
    },

    /** Removes the unsent changes of a user. */
    async forget(userId: string) {
      await Promise.all([...outboxes, listEdits].map(({ forget }) => forget(userId)));
    },
  };
}
