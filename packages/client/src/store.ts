import { browser, type DatabaseRequest, type IndexedDb } from './browser.ts';

/** Storage for tokens and unsent changes: localStorage, AsyncStorage, SecureStore, or any object of this shape. */
export interface Store {
  getItem: (key: string) => string | null | Promise<string | null>;
  setItem: (key: string, value: string) => unknown;
  removeItem: (key: string) => unknown;
}

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

/** Reads the JSON under a key. Returns null if it is missing or invalid. */
export async function readItem<T>(store: Store, key: string): Promise<T | null> {
  return parseItem(await store.getItem(key));
}

export function parseItem<T>(text: string | null): T | null {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
