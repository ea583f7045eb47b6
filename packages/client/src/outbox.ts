import { exclusively } from './lock.ts';
import { readItem, type Store } from './store.ts';

/** What waits for a network, in the store: for each user a map of entries. */
export function createOutbox<Entry>(store: Store, name: string) {
  const keyOf = (userId: string) => `sounds.${name}.${userId}`;

  async function read(userId: string): Promise<Record<string, Entry>> {
    return (await readItem<Record<string, Entry>>(store, keyOf(userId))) ?? {};
  }

  /** Changes the entries of a user; nobody else does meanwhile. */
  const update = (userId: string, change: (entries: Record<string, Entry>) => void) =>
    exclusively(keyOf(userId), async () => {
      const entries = await read(userId);
      change(entries);
      const isEmpty = Object.keys(entries).length === 0;
      await (isEmpty
        ? store.removeItem(keyOf(userId))
        : store.setItem(keyOf(userId), JSON.stringify(entries)));
    });

  return {
    read,
    update,
    /** Lets one program, or tab, send at a time. */
    sending: (userId: string, send: () => Promise<void>) => exclusively(`${keyOf(userId)}.sending`, send),
    forget: async (userId: string) => void (await store.removeItem(keyOf(userId))),
  };
}
