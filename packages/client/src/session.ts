import createClient, { type Client } from 'openapi-fetch';
import { browser } from './browser.ts';
import type { paths } from './document.types.ts';
import { SoundsError, sessionOver } from './error.ts';
import { exclusively } from './lock.ts';
import type { Schema } from './schema.ts';
import { type Limits, send, unlessAborted, type Waiting } from './send.ts';
import { parseItem, readItem, type Store } from './store.ts';

/** The user of a session. */
export interface User extends Schema<'User'> {}

type Tokens = Schema<'RefreshedSession'>;

/** The session as the store keeps it. */
export type Session = Pick<Tokens, 'access_token' | 'refresh_token' | 'expires_at'> & {
  user: User;
  /** Time by which the clock of this device is ahead of the service's. */
  clock_ahead_ms: number;
};

/** A change of the session of this device. */
export type SessionEvent =
  | { type: 'signedIn' | 'refreshed'; user: User }
  /** `elsewhere`: in another tab. `ended`: by the service. */
  | { type: 'signedOut'; user: User; reason: 'asked' | 'elsewhere' | 'ended' | 'deleted' };

export type SessionOptions = {
  url: string;
  store: Store;
  waiting: Waiting;
  onSession: (event: SessionEvent) => void;
};

const key = 'sounds.session';

/** Tokens are refreshed this long before they expire. */
const marginMs = 30_000;

/** Makes a session of new tokens. Notes how far the clock of the device is off, which may be hours. */
export function toSession({ access_token, refresh_token, expires_at, expires_in }: Tokens, user: User): Session {
  const clock_ahead_ms = Date.now() - (expires_at - expires_in) * 1000;
  return { access_token, refresh_token, expires_at, user, clock_ahead_ms };
}

const isDue = ({ expires_at, clock_ahead_ms }: Session) => Date.now() - clock_ahead_ms > expires_at * 1000 - marginMs;

/** Tells whether a refresh may help: for every 401 except `recent_sign_in_required`. */
const isInvalidToken = (error: unknown) =>
  error instanceof SoundsError && error.code === 'unauthorized' && error.reason !== 'recent_sign_in_required';

function withToken(request: Request, { access_token }: Session): Request {
  const copy = request.clone();
  copy.headers.set('Authorization', `Bearer ${access_token}`);
  return copy;
}

type Sending = Partial<Pick<Limits, 'repeatable' | 'onRepeat'>> & {
  /** The only user whose token may be sent. */
  userId?: string | undefined;
  /** Sends the request without a token if no user is signed in. */
  isForGuests?: boolean;
};

/** The session of one device, as docs/apps.md describes it. It is kept in the store, which other tabs may share. */
export function createSession({ url, store, waiting, onSession }: SessionOptions) {
  const guest = guestClient(url, { repeatable: true, ...waiting });
  let refreshing: Promise<Session> | undefined;

  // Called later, so that a handler that throws changes nothing here.
  const tell = (event: SessionEvent) => queueMicrotask(() => onSession(event));

  const load = () => readItem<Session>(store, key);

  /**
   * Replaces `old` by `next`, unless the store holds another session meanwhile.
   * @returns the session in the store
   */
  const replace = (old: Session, next: Session | null) =>
    exclusively(key, async () => {
      const found = await load();
      if (found?.refresh_token !== old.refresh_token) return found;
      await (next ? store.setItem(key, JSON.stringify(next)) : store.removeItem(key));
      return next;
    });

  /** Gets new tokens and stores them. Concurrent callers share one refresh; aborting one caller does not cancel it. */
  function refresh(stale: Session): Promise<Session> {
    refreshing ??= exclusively(`sounds.refresh.${stale.user.id}`, () => renew(stale)).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  async function renew(stale: Session): Promise<Session> {
    const old = await load();
    if (old === null) throw sessionOver();
    if (old.access_token !== stale.access_token) return old; // another tab was faster
    let next: Session | null = null;
    try {
      const { data } = await guest.POST('/auth/refresh', { body: { refresh_token: old.refresh_token } });
      if (data) next = toSession(data.data, old.user);
    } catch (error) {
      // Other failures say nothing about the session.
      if (!(error instanceof SoundsError) || error.code !== 'unauthorized') throw error;
    }
    const held = await replace(old, next);
    if (held === null && next === null) tell({ type: 'signedOut', user: old.user, reason: 'ended' });
    if (held === null) throw sessionOver();
    if (held === next) tell({ type: 'refreshed', user: old.user });
    return held;
  }

  return {
    load,

    /** Returns the session of this device. @throws SoundsError `session_ended` if there is none */
    async current(): Promise<Session> {
      const session = await load();
      if (session === null) throw sessionOver();
      return session;
    },

    /**
     * Sends a request with the token of the user, and refreshes the token if necessary. Repeats the request by default.
     */
    async fetch(request: Request, { userId, isForGuests, ...sending }: Sending = {}): Promise<Response> {
      const limits = { repeatable: true, ...waiting, ...sending };
      let session = await load();
      if (userId !== undefined && session?.user.id !== userId) throw sessionOver();
      if (session === null) {
        if (!isForGuests) throw sessionOver();
        return send(request, limits);
      }
      if (isDue(session)) session = await refreshFor(session, request);
      try {
        return await send(withToken(request, session), limits);
      } catch (error) {
        if (!isInvalidToken(error)) throw error;
        return send(withToken(request, await refreshFor(session, request)), limits);
      }
    },

    /** Stores a session as that of this device. Its user may be signed in already. */
    async begin(session: Session) {
      const before = await exclusively(key, async () => {
        const found = await load();
        await store.setItem(key, JSON.stringify(session));
        return found;
      });
      const type = before?.user.id === session.user.id ? 'refreshed' : 'signedIn';
      tell({ type, user: session.user });
    },

    /** Removes the session from this device, but not from the service. @returns the session */
    async end(reason: 'asked' | 'deleted'): Promise<Session | null> {
      const session = await exclusively(key, async () => {
        const found = await load();
        await store.removeItem(key);
        return found;
      });
      if (session) tell({ type: 'signedOut', user: session.user, reason });
      return session;
    },
  };

  /** Returns the session with new tokens. Rejects if another user has signed in meanwhile. */
  async function refreshFor(session: Session, { signal }: Request): Promise<Session> {
    const fresh = await unlessAborted(refresh(session), signal);
    if (fresh.user.id !== session.user.id) throw sessionOver();
    return fresh;
  }
}

export type DeviceSession = ReturnType<typeof createSession>;

/** A client for calls without a token, whose 401 leads to no refresh. */
export const guestClient = (url: string, limits: Limits): Client<paths> =>
  createClient<paths>({ baseUrl: url, fetch: (request) => send(request, limits) });

/**
 * Calls `onSession` when the user changes in another tab with the same localStorage. (The tab that wrote gets no event.)
 */
export function watchOtherTabs(onSession: (event: SessionEvent) => void) {
  browser.addEventListener?.('storage', ({ key: changed, oldValue, newValue }) => {
    if (changed !== key) return;
    const [before, after] = [parseItem<Session>(oldValue), parseItem<Session>(newValue)];
    if (before?.user.id === after?.user.id) return;
    if (before) onSession({ type: 'signedOut', user: before.user, reason: 'elsewhere' });
    if (after) onSession({ type: 'signedIn', user: after.user });
  });
}
