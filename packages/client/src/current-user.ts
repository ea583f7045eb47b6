import type { User } from './stored-session.ts';

/** The user who is signed in, with the functions that React's `useSyncExternalStore` needs. */
export interface CurrentUser {
  /** Calls `listener` when the user changes or has adopted a guest. @returns a function that ends the subscription */
  subscribe: (listener: () => void) => () => void;
  /** Returns the user who is signed in on this device, or null; undefined until the store has been read. */
  user: () => User | null | undefined;
}
