import { type Api, createApi } from './api.ts';
import { browser } from './browser.ts';
import { answer } from './call.ts';
import { SoundsError, sessionOver } from './error.ts';
import { exclusively } from './lock.ts';
import type { Schema } from './schema.ts';
import { type Limits, send, type Waiting } from './send.ts';
import { parseItem, readItem, type Store } from './store.ts';
import { unlessAborted, within } from './wait.ts';

/** The user of a session. */
export interface User extends Schema<'User'> {}

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
  /** The store could not write the session, which stays in memory. The next refresh tries again. */
  | { type: 'notStored'; user: User; error: unknown }
  /** `asked`: by `signOut`. `elsewhere`: in another tab. `ended`: by the service. `deleted`: by `deleteAccount`. */
  | { type: 'signedOut'; user: User; reason: 'asked' | 'elsewhere' | 'ended' | 'deleted' };

export type SessionOptions = {
  url: string;
  store: Store;
  waiting: Waiting;
  onSession?: (event: SessionEvent) => void;
  /** Called with the user whenever the store has been read. */
  onLoad?: (user: User | null) => void;
};

const key = 'sounds.session';

/** Time before the expiry of a token at which it is refreshed. */
const marginMs = 30_000;

/** Makes a session from new tokens. Stores the deviation of the device's clock, which may be hours. */
export function toSession({ access_token, refresh_token, expires_at, expires_in }: Tokens, user: User): Session {
  const clock_ahead_ms = Date.now() - (expires_at - expires_in) * 1000;
  return { access_token, refresh_token, expires_at, user, clock_ahead_ms };
}

const isDue = ({ expires_at, clock_ahead_ms }: Session) => Date.now() - clock_ahead_ms > expires_at * 1000 - marginMs;

/** Returns whether a refresh may help, which applies to every 401 except `recent_sign_in_required`. */
const isInvalidToken = (error: unknown) =>
  error instanceof SoundsError && error.code === 'unauthorized' && error.reason !== 'recent_sign_in_required';

function withToken(request: Request, { access_token }: Session): Request {
  const copy = request.clone();
  copy.headers.set('Authorization', `Bearer ${access_token}`);
  return copy;
}

type Sending = Partial<Pick<Limits, 'repeatable' | 'onRepeat' | 'timeLimitMs' | 'attemptLimitMs'>> & {
  /** User whose token is sent. Rejects if another user is signed in. */
  userId?: string | undefined;
  /** Sends the request without a token if no user is signed in. */
  isForGuests?: boolean;
};

/** The session of one device, as docs/apps.md describes. Other tabs may share its store. */
export interface DeviceSession {
  /** Returns the session of this device, or null. @throws the error of the store */
  load(): Promise<Session | null>;
  /** Returns the session of this device. @throws SoundsError `session_ended` if there is none */
  current(): Promise<Session>;
  /**
   * Sends a request with the user's token, which is refreshed if necessary. Repeats the request by default.
   * @throws SoundsError of the service, or `session_ended` if the user is not signed in
   */
  fetch(request: Request, sending?: Sending): Promise<Response>;
  /** Stores the session of this device. Its user may already be signed in. */
  begin(session: Session): Promise<void>;
  /** Removes the session from this device, but not from the service. Returns the session, or null. */
  end(reason: 'asked' | 'deleted'): Promise<Session | null>;
}

export function createSession({ url, store, waiting, onSession, onLoad }: SessionOptions): DeviceSession {
  const guest = guestClient(url, { repeatable: true, ...waiting });
  let refreshing: Promise<Session> | undefined;

  // Call the handler later, so that its errors have no effect on the session.
  const tell = (event: SessionEvent) => queueMicrotask(() => onSession?.(event));

  async function load(): Promise<Session | null> {
    const found = await readItem<Session>(store, key);
    const isSession = found?.user?.id && found.refresh_token;
    onLoad?.(isSession ? found.user : null);
    return isSession ? { ...found, clock_ahead_ms: waiting.service.aheadMs(found.clock_ahead_ms) } : null;
  }

  /** Writes the session to the store. If that fails, the store keeps it in memory. */
  async function save(session: Session | null) {
    try {
      await (session ? store.setItem(key, JSON.stringify(session)) : store.removeItem(key));
    } catch (error) {
      if (session) tell({ type: 'notStored', user: session.user, error });
    }
  }

  /**
   * Replaces `old` by `next`, unless the store now holds another session.
   * @returns the session in the store
   */
  const replace = (old: Session, next: Session | null) =>
    exclusively(key, async () => {
      const found = await load();
      if (found?.refresh_token !== old.refresh_token) return found;
      await save(next);
      const { user } = old;
      tell(next ? { type: 'refreshed', user } : { type: 'signedOut', user, reason: 'ended' });
      return next;
    });

  /** Gets new tokens and stores them. Concurrent callers share one refresh; aborting one caller does not cancel it. */
  function refresh(stale: Session): Promise<Session> {
    const renewing = () => renew(stale);
    refreshing ??= exclusively(`sounds.refresh.${stale.user.id}`, renewing, waiting.timeLimitMs).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  async function renew(stale: Session): Promise<Session> {
    const old = await load();
    if (old === null) throw sessionOver();
    if (old.access_token !== stale.access_token) return old; // another tab has refreshed it
    let next: Session | null = null;
    try {
      const { data } = await answer(guest.POST('/auth/refresh', { body: { refresh_token: old.refresh_token } }));
      next = toSession(data, old.user);
    } catch (error) {
      // Keep the session after any other failure.
      if (!(error instanceof SoundsError) || error.code !== 'unauthorized') throw error;
    }
    const held = await replace(old, next);
    if (held === null) throw sessionOver();
    return held;
  }

  return {
    load,

    async current() {
      const session = await load();
      if (session === null) throw sessionOver();
      return session;
    },

    async fetch(request, { userId, isForGuests, ...sending } = {}) {
      const limits = { repeatable: true, ...waiting, ...sending };
      const deadline = performance.now() + limits.timeLimitMs;
      let session = await unlessAborted(load(), request.signal);
      if (userId !== undefined && session?.user.id !== userId) throw sessionOver();
      if (session === null) {
        if (!isForGuests) throw sessionOver();
        return send(request, limits, deadline);
      }
      if (isDue(session)) session = await refreshFor(session, request, deadline);
      try {
        return await send(withToken(request, session), limits, deadline);
      } catch (error) {
        if (!isInvalidToken(error)) throw error;
        return send(withToken(request, await refreshFor(session, request, deadline)), limits, deadline);
      }
    },

    async begin(session) {
      const before = await exclusively(key, async () => {
        const found = await load().catch(() => null);
        await save(session);
        return found;
      });
      const type = before?.user.id === session.user.id ? 'refreshed' : 'signedIn';
      tell({ type, user: session.user });
    },

    async end(reason) {
      const session = await exclusively(key, async () => {
        const found = await load().catch(() => null);
        await save(null);
        return found;
      });
      if (session) tell({ type: 'signedOut', user: session.user, reason });
      return session;
    },
  };

  /** Returns the session with new tokens. Rejects if another user has signed in meanwhile. */
  async function refreshFor(session: Session, { signal }: Request, deadline: number): Promise<Session> {
    const fresh = await within(deadline - performance.now(), unlessAborted(refresh(session), signal));
    if (fresh.user.id !== session.user.id) throw sessionOver();
    return fresh;
  }
}

/** Creates a client for calls without a token. A 401 does not cause a refresh. */
export const guestClient = (url: string, limits: Limits): Api => createApi(url, (request) => send(request, limits));

/**
 * Calls `onSession` when the user changes in another tab, which a browser reports if `store` is its localStorage.
 */
export function watchOtherTabs(onSession: (event: SessionEvent) => void) {
  browser.addEventListener?.('storage', ({ key: changed, oldValue, newValue }) => {
    if (changed !== key) return;
    const [before, after] = [parseItem<Session>(oldValue), parseItem<Session>(newValue)];
    if (before?.user?.id === after?.user?.id) return;
    if (before) onSession({ type: 'signedOut', user: before.user, reason: 'elsewhere' });
    if (after) onSession({ type: 'signedIn', user: after.user });
  });
}
