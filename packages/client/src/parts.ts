import type { Api } from './api.ts';
import type { Finder } from './catalogue.ts';
import type { Entries } from './entries.ts';
import type { Favorite, HistoryEntry, ProgressEntry } from './resources.ts';
import type { Waiting } from './send.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/** Objects that the parts of a client share. */
export interface Parts {
  api: Api;
  session: DeviceSession;
  waiting: Waiting;
  store: Store;
  /** Copies of the user's lists for offline use. */
  favoritesCopy: Entries<Favorite>;
  historyCopy: Entries<HistoryEntry>;
  progressCopy: Entries<ProgressEntry>;
  find: Finder;
  /** Settles like a call, but waits until the settings that `coverUrl` needs are loaded or have failed to load. */
  withCovers: <T>(call: Promise<T>) => Promise<T>;
  /** Reads the settings that `coverUrl` needs from the store. */
  restore: () => Promise<void>;
}
