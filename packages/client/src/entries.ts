import { exclusively } from './lock.ts';
import { readItem, type Store } from './store.ts';
import { unlessAborted } from './wait.ts';

export type Entries<Entry> = ReturnType<typeof createEntries<Entry>>;

/** Keeps a map of entries for each user in the store, such as unsent changes. */
export function createEntries<Entry>(store: Store, name: string) {
  const keyOf = (userId: string) => `sounds.${name}.${userId}`;

  async function read(userId: string): Promise<Record<string, Entry>> {
    return (await readItem<Record<string, Entry>>(store, keyOf(userId))) ?? {};
  }

  async function save(userId: string, entries: Record<string, Entry>) {
    const isEmpty = Object.keys(entries).length === 0;
    try {
      await (isEmpty ? store.removeItem(keyOf(userId)) : store.setItem(keyOf(userId), JSON.stringify(entries)));
    } catch {
      // Ignore the failure, because the store keeps unsent changes in memory, and the app works without copies.
    }
  }

  const replace = (userId: string, entries: Record<string, Entry>) =>
    exclusively(keyOf(userId), () => save(userId, entries));

  return {
    read,

    /** Changes the entries of a user. Concurrent changes run one after the other. */
    update: (userId: string, change: (entries: Record<string, Entry>) => void | Promise<void>) =>
      exclusively(keyOf(userId), async () => {
        const entries = await read(userId);
        await change(entries);
        await save(userId, entries);
      }),

    /**
     * Runs `send` when no other tab or part of the program is sending.
     * @param limitMs time limit of the call, half of which it waits for other tabs
     */
    sending: <T>(userId: string, limitMs: number, send: () => Promise<T>, signal?: AbortSignal) =>
      unlessAborted(exclusively(`${keyOf(userId)}.sending`, send, limitMs / 2), signal),

    replace,

    forget: (userId: string) => replace(userId, {}),
  };
}

/**
 * Keeps the copy of a collection for each user, such as favorites. The app works without it while the store fails.
 * @param isSignedIn tells whether a user is signed in. The copies of other users are not written, because a sign-out
 *   removes them
 */
export function createCopy<Entry>(
  store: Store,
  name: string,
  isSignedIn: (userId: string) => Promise<boolean>,
): Entries<Entry> {
  const { read, update, replace, ...others } = createEntries<Entry>(store, `copy.${name}`);
  const write = async (userId: string, writing: () => Promise<void>) => {
    if (await isSignedIn(userId)) await writing();
  };
  return {
    ...others,
    read: (userId) => read(userId).catch(() => ({})),
    update: (userId, change) => write(userId, () => update(userId, change)).catch(() => {}),
    replace: (userId, entries) => write(userId, () => replace(userId, entries)),
  };
}

/** Returns entries by the ids of their sounds. */
export const bySound = <Entry extends { sound_id: string }>(entries: Entry[]): Record<string, Entry> =>
  Object.fromEntries(entries.map((entry) => [entry.sound_id, entry]));

export const newestFirst = <Key extends string, Entry extends Record<Key, string>>(entries: Entry[], key: Key) =>
  entries.sort((a, b) => (a[key] < b[key] ? 1 : -1));
