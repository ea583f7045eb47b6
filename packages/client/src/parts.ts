import type { Api } from './api.ts';
import type { Entries } from './entries.ts';
import type { Favorite, HistoryEntry, ProgressEntry } from './resources.ts';
import type { Schema } from './schema.ts';
import type { Waiting } from './send.ts';
import type { DeviceSession } from './session.ts';
import type { Store } from './store.ts';

/** Objects that the parts of a client share. */
export interface Parts {
  api: Api;
  session: DeviceSession;
  waiting: Waiting;
  store: Store;
  /** Copies of the user's collections for offline use. */
  favoritesCopy: Entries<Favorite>;
  historyCopy: Entries<HistoryEntry>;
  progressCopy: Entries<ProgressEntry>;
  /** Finds a sound in the offline copy of the catalogue. Resolves to null if there is none. */
  find: (id: string) => Promise<Omit<Schema<'Sound'>, 'play_count'> | null>;
  /** Settles like a call, but waits until the settings that `coverUrl` needs are loaded or have failed to load. */
  withCovers: <T>(call: Promise<T>) => Promise<T>;
  /** Reads the settings that `coverUrl` needs from the store. */
  restore: () => Promise<void>;
}
