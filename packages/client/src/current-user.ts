import type { SessionEvent, User } from './session.ts';

/** Who is signed in, for any number of parts of an app. The shape is that of React's `useSyncExternalStore`. */
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

    /** Calls `listener` whenever somebody else, or nobody, is signed in. @returns what ends that */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /** Who is signed in on this device; undefined until the store has been read. */
    user: (): User | null | undefined => current,
  };
}
