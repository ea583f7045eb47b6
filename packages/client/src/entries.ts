import { exclusively } from './lock.ts';
import { readItem, type Store } from './store.ts';

export type Entries<Entry> = ReturnType<typeof createEntries<Entry>>;

/** Keeps a map of entries for each user in the store, such as unsent changes or the copy of a list. */
export function createEntries<Entry>(store: Store, name: string) {
  const keyOf = (userId: string) => `sounds.${name}.${userId}`;

  async function read(userId: string): Promise<Record<string, Entry>> {
    return (await readItem<Record<string, Entry>>(store, keyOf(userId))) ?? {};
  }

  const save = (userId: string, entries: Record<string, Entry>) =>
    Object.keys(entries).length === 0
      ? store.removeItem(keyOf(userId))
      : store.setItem(keyOf(userId), JSON.stringify(entries));

  return {
    read,

    /** Changes the entries of a user. Concurrent changes run one after the other. */
    update: (userId: string, change: (entries: Record<string, Entry>) => void) =>
      exclusively(keyOf(userId), async () => {
        const entries = await read(userId);
        change(entries);
        await save(userId, entries);
      }),

    /** Runs `send` when no other tab or part of the program is sending. */
    sending: (userId: string, send: () => Promise<void>) => exclusively(`${keyOf(userId)}.sending`, send),

    /** Replaces all entries of a user. */
    replace: (userId: string, entries: Record<string, Entry>) =>
      exclusively(keyOf(userId), async () => void (await save(userId, entries))),

    forget: (userId: string) => exclusively(keyOf(userId), async () => void (await save(userId, {}))),
  };
}
