import { exclusively } from './lock.ts';
import { readItem, type Store } from './store.ts';

export type Entries<Entry> = ReturnType<typeof createEntries<Entry>>;

/** A map of entries in the store for each user: unsent changes, or a copy of a list. */
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

    /** Changes the entries of a user. Changes run one after the other. */
    update: (userId: string, change: (entries: Record<string, Entry>) => void) =>
      exclusively(keyOf(userId), async () => {
        const entries = await read(userId);
        change(entries);
        await save(userId, entries);
      }),

    /** Lets one program, or tab, send at a time. */
    sending: (userId: string, send: () => Promise<void>) => exclusively(`${keyOf(userId)}.sending`, send),

    /** Puts other entries in the place of all. */
    replace: (userId: string, entries: Record<string, Entry>) =>
      exclusively(keyOf(userId), async () => void (await save(userId, entries))),

    forget: (userId: string) => exclusively(keyOf(userId), async () => void (await save(userId, {}))),
  };
}
