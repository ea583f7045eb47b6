import { browser } from './browser.ts';
import type { Entries } from './entries.ts';
import { exclusively } from './lock.ts';
import type { Schema } from './schema.ts';
import type { Service } from './service.ts';
import { readItem, type Store } from './store.ts';

/** The user of a session. */
export interface User extends Pick<Schema<'User'>, 'id' | 'email'> {
  /** True for a guest, who listens without an account. */
  isGuest?: boolean;
}

type Tokens = Schema<'RefreshedSession'>;

/** A session in the store. */
export type Session = Pick<Tokens, 'access_token' | 'refresh_token' | 'expires_at'> & {
  user: User;
  /** Milliseconds by which the clock of this device is ahead of the service. */
  clock_ahead_ms: number;
};

/** A change of the session of this device. */
export type SessionEvent =
  | { type: 'signedIn' | 'refreshed'; user: User }
  /** The account now has what the user did as a guest. Read favorites, lists, history and positions again. */
  | { type: 'adopted'; user: User }
  /** The service has answered the adoption of a guest with an error. A start, a sign-in or `online` tries again. */
  | { type: 'notAdopted'; user: User; error: unknown }
  /** The store could not write the session, which stays in memory. The next refresh tries again. */
  | { type: 'notStored'; user: User; error: unknown }
  /**
   * `asked`: by `signOut`. `elsewhere`: in another tab, or the session has gone from the store. `ended`: by the
   * service. `deleted`: by `deleteAccount`.
   */
  | { type: 'signedOut'; user: User; reason: 'asked' | 'elsewhere' | 'ended' | 'deleted' };

export interface StoredSessionOptions {
  store: Store;
  service: Service;
  onSession?: (event: SessionEvent) => void;
  /** Called when the store has been read for the first time. */
  onLoad?: () => void;
  /** Keeps the sessions of guests until the users who signed in have adopted them. */
  guests?: Entries<Session>;
  /** Called with the former user when another one has signed in without a sign-out. */
  onReplaced?: (user: User) => void;
}

const key = 'sounds.session';

/** Returns the user of a response. */
export const userOf = ({ id, email, is_guest }: Schema<'User'>): User => ({
  id,
  email,
  ...(is_guest && { isGuest: true }),
});

/** Makes a session from new tokens. Stores the deviation of the device's clock, which may be hours. */
export function toSession({ access_token, refresh_token, expires_at, expires_in }: Tokens, user: User): Session {
  const clock_ahead_ms = Date.now() - (expires_at - expires_in) * 1000;
  return { access_token, refresh_token, expires_at, user, clock_ahead_ms };
}

/** Reads and writes the item of the store that has the session. Reports changes that another tab has made. */
function createItem({ store, service, onSession, onLoad }: StoredSessionOptions) {
  /** User of the last session that was read or written; undefined until then. */
  let known: User | null | undefined;
  /** Number of writes that have begun or ended; odd during a write. */
  let writes = 0;

  // Call the handler later, so that its errors have no effect on the session.
  const tell = (event: SessionEvent) => queueMicrotask(() => onSession?.(event));

  /** Reports that another tab has changed the session, or that the store has lost it. */
  function found(user: User | null) {
    const last = known;
    known = user;
    if (last === undefined) return onLoad?.();
    if (last?.id === user?.id) return;
    if (last) tell({ type: 'signedOut', user: last, reason: 'elsewhere' });
    if (user) tell({ type: 'signedIn', user });
  }

  /** Returns a session with the clock as it was measured last, because the times of a session have whole seconds. */
  const withClock = (session: Session | null) =>
    session && { ...session, clock_ahead_ms: service.aheadMs(session.clock_ahead_ms) };

  return {
    tell,

    /** Returns the user of the last session that was read or written; undefined until then. */
    user: () => known,

    /** Returns the session of this device, or null. @throws the error of the store */
    async load(): Promise<Session | null> {
      const before = writes;
      const item = await readItem<Session>(store, key);
      const session = item?.user?.id && item.refresh_token ? item : null;
      // A read during a write may return either session.
      if (writes === before && writes % 2 === 0) found(session?.user ?? null);
      return withClock(session);
    },

    /** Writes the session to the store, which keeps it in memory if that fails. The caller reports the change. */
    async save(session: Session | null) {
      writes += 1;
      try {
        await (session ? store.setItem(key, JSON.stringify(withClock(session))) : store.removeItem(key));
      } catch (error) {
        if (session) tell({ type: 'notStored', user: session.user, error });
      }
      writes += 1;
      known = session?.user ?? null;
    },
  };
}

export type StoredSession = ReturnType<typeof createStoredSession>;

/** Reads and writes the session of this device, and reports its changes. */
export function createStoredSession({ guests, onReplaced, ...options }: StoredSessionOptions) {
  const { load, save, tell, user } = createItem(options);

  /** Keeps the session of a guest for the user who signs in over it, and will adopt it. */
  async function keepGuest({ user: owner }: Session, guest: Session) {
    if (owner.isGuest || !guest.user.isGuest) return;
    await guests?.update(owner.id, (waiting) => {
      waiting[guest.user.id] = guest;
    });
  }

  /** Writes a session, or removes it. @returns the former session */
  const exchange = (session: Session | null) =>
    exclusively(key, async () => {
      // A store that cannot be read must not prevent a sign-in. A guest in it is lost.
      const found = await load().catch(() => null);
      if (session && found) await keepGuest(session, found);
      await save(session);
      return found;
    });

  return {
    load,
    user,

    /**
     * Replaces `old` by `next`, unless the store now holds another session.
     * @returns the session in the store
     */
    replace: (old: Session, next: Session | null) =>
      exclusively(key, async () => {
        const found = await load();
        if (found?.refresh_token !== old.refresh_token) return found;
        await save(next);
        const { user } = old;
        tell(next ? { type: 'refreshed', user } : { type: 'signedOut', user, reason: 'ended' });
        return next;
      }),

    /** Stores the session of this device. Its user may already be signed in. */
    async begin(session: Session): Promise<void> {
      const before = await exchange(session);
      const isSame = before?.user.id === session.user.id;
      if (before && !isSame) onReplaced?.(before.user);
      tell({ type: isSame ? 'refreshed' : 'signedIn', user: session.user });
    },

    /** Removes the session from this device, but not from the service. Returns the session, or null. */
    async end(reason: 'asked' | 'deleted'): Promise<Session | null> {
      const session = await exchange(null);
      if (session) tell({ type: 'signedOut', user: session.user, reason });
      return session;
    },
  };
}

/** Reads the session again when another tab has changed it, which a browser reports if it is in localStorage. */
export function watchOtherTabs(load: () => Promise<unknown>) {
  browser.addEventListener?.('storage', ({ key: changed }) => {
    if (changed === key || changed === null) load().catch(() => {}); // null: localStorage.clear()
  });
}
