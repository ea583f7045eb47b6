/** What only browsers have, or only some of the other runtimes. */
type Browser = {
  navigator?: {
    locks?: { request: <T>(name: string, task: () => Promise<T>) => Promise<T> };
    onLine?: boolean;
  };
  /** Absent outside of pages: React Native has no origin. */
  location?: { origin?: string };
  addEventListener?: (type: 'online' | 'storage', listener: (event: StorageChange) => void) => void;
  removeEventListener?: (type: 'online', listener: () => void) => void;
};

/** The part of StorageEvent that is used. */
export type StorageChange = { key: string | null; oldValue: string | null; newValue: string | null };

export const browser = globalThis as Browser;
