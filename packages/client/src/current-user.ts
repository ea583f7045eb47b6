import { createListeners } from './listeners.ts';
import type { SessionEvent, User } from './stored-session.ts';

/** The user who is signed in, with the functions that React's `useSyncExternalStore` needs. */
export interface CurrentUser extends Omit<ReturnType<typeof createCurrentUser>, 'follow' | 'found'> {}

/** Follows who is signed in. @param read reads the store, and calls `found` */
export function createCurrentUser(read: () => Promise<unknown>) {
  const { notify, subscribe } = createListeners();
  let current: User | null | undefined;
  let isReading = false;

  function change(user: User | null) {
    if (current !== undefined && current?.id === user?.id) return;
    current = user;
    notify();
  }

  return {
    follow({ type, user }: SessionEvent) {
      if (type === 'adopted') notify();
      else if (type === 'signedOut') change(null);
      else if (type === 'signedIn' || type === 'refreshed') change(user);
    },

    found(user: User | null) {
      if (current === undefined) change(user);
    },

    /** Calls `listener` when the user changes or has adopted a guest. @returns a function that ends the subscription */
    subscribe,

    /** Returns the user who is signed in on this device, or null; undefined until the store has been read. */
    user(): User | null | undefined {
      if (current === undefined && !isReading) {
        isReading = true;
        read()
          .catch(() => {}) // the next call reads again
          .finally(() => {
            isReading = false;
          });
      }
      return current;
    },
  };
}
