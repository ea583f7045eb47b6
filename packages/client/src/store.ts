import { browser, type DatabaseRequest, type IndexedDb } from './browser.ts';
import { SoundsError } from './error.ts';
import { parseJson } from './json.ts';
import type { Store } from './stored-items.ts';
import { within } from './wait.ts';

export type { Store };

/** Creates a store that keeps items until the program ends. */
export function memoryStore(): Store {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  };
}

/** Creates a store in a browser's IndexedDB, which holds more than localStorage. */
export function indexedDbStore(name = 'sounds'): Store {
  const done = <T>(request: DatabaseRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  async function open(mode: 'readonly' | 'readwrite') {
    const opening = (browser.indexedDB as IndexedDb).open(name);
    opening.onupgradeneeded = () => opening.result.createObjectStore('items');
    const database = await done(opening);
    const transaction = database.transaction('items', mode);
    transaction.oncomplete = () => database.close();
    return transaction.objectStore('items');
  }
  return {
    getItem: async (key) => (await done((await open('readonly')).get(key))) ?? null,
    setItem: async (key, value) => done((await open('readwrite')).put(value, key)),
    removeItem: async (key) => done((await open('readwrite')).delete(key)),
  };
}

/** Calls a function with a store, possibly with a time limit or another store. */
type Access = <T>(method: (store: Store) => T | Promise<T>) => Promise<T>;

/** Creates a store that passes each call of a method to `access`. */
const storeOf = (access: Access): Store => ({
  getItem: (key) => access((store) => store.getItem(key)),
  setItem: (key, value) => access((store) => store.setItem(key, value)),
  removeItem: (key) => access((store) => store.removeItem(key)),
});

/** Maximum time for an access to a store, because IndexedDB may never answer after a page was in the background. */
const accessLimitMs = 5_000;

/** Rejects an access that does not settle in time. */
const timed = (store: Store): Store => storeOf(async (method) => within(accessLimitMs, Promise.resolve(method(store))));

/** Uses memory after an access took too long, because the next ones would take as long. */
function orMemory(store: Store): Store {
  const memory = memoryStore();
  let isStuck = false;
  return storeOf(async (method) => {
    try {
      if (!isStuck) return await method(store);
    } catch (error) {
      if (!(error instanceof SoundsError)) throw error;
      isStuck = true;
    }
    return method(memory);
  });
}

/** Keeps items in memory that the store cannot write, or that it can no longer read. */
function remembering(store: Store): Store {
  /** `stored` is the text of the last successful access, `present` the current text, which may not be written yet. */
  const items = new Map<string, { stored: string | null; present: string | null }>();

  async function write(key: string, present: string | null) {
    const item = { stored: items.get(key)?.stored ?? null, present };
    items.set(key, item);
    await (present === null ? store.removeItem(key) : store.setItem(key, present));
    item.stored = present;
  }

  return {
    async getItem(key) {
      const known = items.get(key);
      try {
        const stored = (await store.getItem(key)) ?? null;
        // Another tab may have changed the item.
        if (stored !== known?.stored) items.set(key, { stored, present: stored });
      } catch (error) {
        if (!known) throw error;
      }
      return items.get(key)?.present ?? null;
    },
    setItem: write,
    removeItem: (key) => write(key, null),
  };
}

/** Returns the store for tokens and unsent changes, and the store for copies. */
export function storesOf({ store, offlineStore }: { store?: Store | undefined; offlineStore?: Store | undefined }) {
  const given = store?.getItem ? store : memoryStore();
  const ofCopies = offlineStore ?? (browser.indexedDB ? indexedDbStore() : given);
  return { store: remembering(timed(given)), copies: inPieces(orMemory(timed(ofCopies))) };
}

/** Number of characters that are stored in one item: 500 KB at most, because Android cannot read rows above 2 MB. */
const maxLength = 125_000;

/** Stores long texts in pieces. Loads the code for it only when a text is long. */
export function inPieces(store: Store): Store {
  const isDivided = (text: string | null) => /^pieces /.test(text ?? '');
  const loadPieces = async () => (await import('./pieces.ts')).createPieces(store, maxLength);

  async function storeFor(key: string, text = '') {
    const isLong = text.length > maxLength || isDivided(await store.getItem(key));
    return isLong ? loadPieces() : store;
  }

  return {
    async getItem(key) {
      const text = await store.getItem(key);
      return isDivided(text) ? (await loadPieces()).getItem(key) : text;
    },
    setItem: async (key, text) => (await storeFor(key, text)).setItem(key, text),
    removeItem: async (key) => (await storeFor(key)).removeItem(key),
  };
}

/** Reads the JSON object under a key. Returns null if it is missing or invalid. */
export async function readItem<T>(store: Store, key: string): Promise<T | null> {
  return parseJson(await store.getItem(key));
}
