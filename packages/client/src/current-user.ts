import type { SessionEvent, User } from './session.ts';

/** The user who is signed in, with the functions that React's `useSyncExternalStore` needs. */
export interface CurrentUser extends Omit<ReturnType<typeof createCurrentUser>, 'follow'> {}

export function createCurrentUser(stored: Promise<User | null>) {
  const listeners = new Set<() => void>();
  let current: User | null | undefined;

  function change(user: User | null) {
    if (current !== undefined && current?.id === user?.id) return;
    current = user;
    for (const listener of [...listeners]) listener();
  }
  stored.then((user) => current === undefined && change(user)).catch(() => {});

  return {
    follow: (event: SessionEvent) => change(event.type === 'signedOut' ? null : event.user),

    /** Calls `listener` whenever the user changes. @returns a function that ends the subscription */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /** Returns the user who is signed in on this device, or null; undefined until the store has been read. */
    user: (): User | null | undefined => current,
  };
}
