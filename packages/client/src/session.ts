import { type Api, createApi } from './api.ts';
import { dataOf } from './call.ts';
import { SoundsError, sessionOver } from './error.ts';
import { exclusively } from './lock.ts';
import { type Limits, send, type Waiting } from './send.ts';
import {
  createStoredSession,
  type Session,
  type StoredSession,
  type StoredSessionOptions,
  toSession,
} from './stored-session.ts';
import { unlessAborted, within } from './wait.ts';

type SessionOptions = Omit<StoredSessionOptions, 'service'> & { url: string; waiting: Waiting };

/** Time before the expiry of a token at which it is refreshed. */
const marginMs = 30_000;

const isDue = ({ expires_at, clock_ahead_ms }: Session) => Date.now() - clock_ahead_ms > expires_at * 1000 - marginMs;

/** Reasons of a 401 for which new tokens of the caller would not help. */
const reasonsNoTokenMends = ['recent_sign_in_required', 'key_scope', 'code_invalid', 'guest_token_invalid'];

/** Tells whether an error is a 401 that new tokens may fix. */
const isInvalidToken = (error: unknown) =>
  error instanceof SoundsError && error.code === 'unauthorized' && !reasonsNoTokenMends.includes(error.reason ?? '');

/** Returns a copy of a request that has the token of a session. */
export function withToken(request: Request, { access_token }: Session): Request {
  const copy = request.clone();
  copy.headers.set('Authorization', `Bearer ${access_token}`);
  return copy;
}

type Sending = Partial<Pick<Limits, 'repeatable' | 'onRepeat' | 'timeLimitMs' | 'attemptLimitMs' | 'isAnswer'>> & {
  /** User whose token is sent. Rejects if another user is signed in. */
  userId?: string | undefined;
  /** Sends the request without a token if no user is signed in. */
  needsNoToken?: boolean;
};

/** The session of one device, as docs/apps.md describes. Other tabs may share its store. */
export interface DeviceSession extends Pick<StoredSession, 'load' | 'begin' | 'end' | 'user'> {
  /** Returns the session of this device. @throws SoundsError `session_ended` if there is none */
  current(): Promise<Session>;
  /**
   * Sends a request with the user's token, which is refreshed if necessary. Repeats the request by default.
   * @throws SoundsError of the service, or `session_ended` if the user is not signed in
   */
  fetch(request: Request, sending?: Sending): Promise<Response>;
  /** Returns the functions of the API, which send with the user's token as `fetch` does. */
  api(sending?: Sending): Api;
}

export function createSession({ url, waiting, ...options }: SessionOptions): DeviceSession {
  const stored = createStoredSession({ ...options, service: waiting.service });
  const { load } = stored;
  const refresh = createRefresh(url, waiting, current, stored.replace);

  /** Returns the session with new tokens. Rejects if another user has signed in meanwhile. */
  async function refreshFor(session: Session, { signal }: Request, deadline: number): Promise<Session> {
    const fresh = await within(deadline - performance.now(), unlessAborted(refresh(session), signal));
    if (fresh.user.id !== session.user.id) throw sessionOver();
    return fresh;
  }

  async function current(): Promise<Session> {
    const session = await load();
    if (session === null) throw sessionOver();
    return session;
  }

  async function fetch(request: Request, { userId, needsNoToken, ...sending }: Sending = {}): Promise<Response> {
    const limits = { repeatable: true, ...waiting, ...sending };
    const deadline = performance.now() + limits.timeLimitMs;
    let session = await load();
    if (session === null && needsNoToken) return send(request, limits, deadline);
    if (session === null || session.user.id !== (userId ?? session.user.id)) throw sessionOver();
    // A page that goes away has no time for a refresh.
    if (isDue(session) && !request.keepalive) session = await refreshFor(session, request, deadline);
    try {
      return await send(withToken(request, session), limits, deadline);
    } catch (error) {
      if (!isInvalidToken(error)) throw error;
      return send(withToken(request, await refreshFor(session, request, deadline)), limits, deadline);
    }
  }

  const api = (sending?: Sending) => createApi(url, (request, isAnswer) => fetch(request, { ...sending, isAnswer }));

  return { ...stored, current, fetch, api };
}

/** Creates a function that gets new tokens and stores them. Aborting one of its callers does not cancel it. */
function createRefresh(
  url: string,
  waiting: Waiting,
  current: DeviceSession['current'],
  replace: StoredSession['replace'],
) {
  let refreshing: Promise<Session> | undefined;

  async function renew(stale: Session): Promise<Session> {
    const old = await current();
    if (old.access_token !== stale.access_token) return old; // another tab has refreshed it
    const held = await replace(old, await withNewTokens(url, waiting, old));
    if (held === null) throw sessionOver();
    return held;
  }

  return (stale: Session): Promise<Session> => {
    refreshing ??= exclusively(`sounds.refresh.${stale.user.id}`, () => renew(stale), waiting.timeLimitMs).finally(
      () => {
        refreshing = undefined;
      },
    );
    return refreshing;
  };
}

/** Returns a session with new tokens; null if the service has ended it. */
export async function withNewTokens(
  url: string,
  waiting: Waiting,
  { refresh_token, user }: Session,
): Promise<Session | null> {
  try {
    const body = { refresh_token };
    return toSession(await dataOf(tokenlessClient(url, waiting).POST('/auth/refresh', { body })), user);
  } catch (error) {
    // Keep the session after any other failure, such as a 401 of a proxy.
    if ((error as SoundsError).reason !== 'session_ended') throw error;
    return null;
  }
}

/** Creates a client for calls without a token. A 401 does not cause a refresh. */
export const tokenlessClient = (url: string, waiting: Waiting, repeatable = true): Api =>
  createApi(url, (request, isAnswer) => send(request, { ...waiting, repeatable, isAnswer }));
