/** Where tokens and what waits for a network are kept: localStorage, AsyncStorage, SecureStore, or anything of this shape. */
export interface Store {
  getItem: (key: string) => string | null | Promise<string | null>;
  setItem: (key: string, value: string) => unknown;
  removeItem: (key: string) => unknown;
}

/** Keeps everything until the program ends. */
export function memoryStore(): Store {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  };
}

/** Reads the JSON under a key; null where there is none, or something else. */
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
