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
  const { forget: forgetFavorites, send: sendFavorites, ...favorites } = createFavorites(parts);
  const { forget: forgetPlays, send: sendPlays, ...plays } = createPlays(parts);
  const { forget: forgetProgress, send: sendProgress, drop, ...progress } = createProgress(parts);
  /** Copy of `sounds-client/lists`, which apps without lists do not load. */
  const listsCopy = createCopy(copies, 'lists');
  const history = createHistory({ ...parts, flushPlays: sendPlays, dropProgress: drop });
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
      for (const send of [sendFavorites, sendPlays, sendProgress]) send().catch(() => {});
    },

    /** Sends plays and positions with a session that has ended on this device. */
    sendLast: (sender: DeviceSession, options?: CallOptions) =>
      Promise.allSettled([sendPlays(options, sender), sendProgress(options, sender)]),

    /** Removes the copies of a user's lists. */
    async forgetCopies({ id }: { id: string }) {
      for (const copy of [favoritesCopy, historyCopy, progressCopy, listsCopy]) await copy.forget(id);
    },

    /** Removes the unsent changes of a user. */
    async forget(userId: string) {
      const forgets = [forgetFavorites, forgetPlays, forgetProgress, createEntries(parts.store, 'lists').forget];
      await Promise.all(forgets.map((forget) => forget(userId)));
    },
  };
}
