/** Globals of browsers that other runtimes may lack. */
interface Browser {
  navigator?: { locks?: { request: <T>(name: string, task: () => Promise<T>) => Promise<T> }; onLine?: boolean };
  indexedDB?: IndexedDb;
  /** Undefined in React Native, which has no origin. */
  location?: { origin?: string };
  addEventListener?: (type: 'online' | 'storage' | 'pagehide', listener: (event: StorageChange) => void) => void;
  removeEventListener?: (type: 'online' | 'pagehide', listener: () => void) => void;
}

export interface DatabaseRequest<T> {
  result: T;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

/** Members of IndexedDB that the client uses. */
export interface IndexedDb {
  open: (name: string) => DatabaseRequest<Database> & { onupgradeneeded: (() => void) | null };
}

interface Database {
  createObjectStore: (name: string) => unknown;
  transaction: (
    store: string,
    mode: string,
  ) => { objectStore: (name: string) => Items; oncomplete: (() => void) | null };
  close: () => void;
}

interface Items {
  get: (key: string) => DatabaseRequest<string | undefined>;
  put: (value: string, key: string) => DatabaseRequest<unknown>;
  delete: (key: string) => DatabaseRequest<unknown>;
}

interface StorageChange {
  key: string | null;
  oldValue: string | null;
  newValue: string | null;
}

export const browser = globalThis as Browser;
