import { createApi } from './api.ts';
import { type Auth, createAuth } from './auth.ts';
import { browser } from './browser.ts';
import { answer, type CallOptions, signalOf } from './call.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { createConfig } from './config.ts';
import { type CurrentUser, createCurrentUser } from './current-user.ts';
import { createCopy } from './entries.ts';
import { createFavorites, type Favorites } from './favorites.ts';
import { createHistory, type History } from './history.ts';
import { createOffline, type Offline } from './offline.ts';
import { createPlays, type Plays } from './plays.ts';
import { createProgress, type Progress } from './progress.ts';
import type {
  AccountExport,
  Category,
  Customer,
  CustomerChanges,
  Favorite,
  HistoryEntry,
  HomeSection,
  Profile,
  ProgressEntry,
} from './resources.ts';
import type { Wait } from './send.ts';
import { createService } from './service.ts';
import { createSession, type SessionEvent, watchOtherTabs } from './session.ts';
import { indexedDbStore, inPieces, memoryStore, remembering, type Store, timed } from './store.ts';

export { type AudioElement, attachAudio } from './attach-audio.ts';
export type { Auth, MailedCode } from './auth.ts';
export type { CallOptions } from './call.ts';
export type { Audio, Catalogue, Filters, Page, Sound, SoundDetail, SoundFiles } from './catalogue.ts';
export type { AppConfig } from './config.ts';
export type { CurrentUser } from './current-user.ts';
export { type ErrorCode, type ErrorReason, SoundsError } from './error.ts';
export type { Favorites } from './favorites.ts';
export { gainOf, type Measured } from './gain.ts';
export type { History } from './history.ts';
export type { CopiedSound, Offline, OfflineFilters } from './offline.ts';
export type { Plays } from './plays.ts';
export type { Progress } from './progress.ts';
export type * from './resources.ts';
export type { Wait } from './send.ts';
export type { SessionEvent, User } from './session.ts';
export { indexedDbStore, memoryStore, type Store } from './store.ts';

export interface Options {
  /** URL of the service, with `/api/v1`. */
  url: string;
  /** Stores tokens and unsent changes: localStorage, AsyncStorage, SecureStore … Default: memory, as on a server. */
  store?: Store | undefined;
  /** Stores copies for offline use, which may be megabytes. Default: IndexedDB if available, otherwise `store`. */
  offlineStore?: Store;
  /** Called when the session of this device begins, gets new tokens, or ends. */
  onSession?: (event: SessionEvent) => void;
  /** Time limit for a request with all repetitions. Default: 60 s. */
  timeLimitMs?: number;
  /** Called when a call waits before it is sent again, so that you can show the reason and the time. */
  onWait?: (wait: Wait) => void;
}

/** The client of a Sounds Service for one user at a time. */
export interface Sounds extends ReturnType<typeof createSounds> {}

/** Time limit for the export of an account, which may be megabytes. It is sent once, because the service limits it. */
const exportLimitMs = 65_000;

/** Makes a client. One is enough for the whole app. */
export function createSounds(options: Options) {
  const { offlineStore, onSession, timeLimitMs = 60_000, onWait } = options;
  const url = options.url.replace(/\/+$/, '');
  const given = options.store?.getItem ? options.store : memoryStore();
  const store = remembering(timed(given));
  const waiting = { timeLimitMs, onWait, service: createService() };
  const tell = (event: SessionEvent) => {
    follow(event);
    if (event.type === 'signedIn') flush();
    if (event.type === 'signedOut') forgetCopies(event.user.id).catch(() => {});
    onSession?.(event);
  };
  const { follow, found, ...currentUser } = createCurrentUser(() => session.load());
  const session = createSession({ url, store, waiting, onSession: tell, onLoad: found });
  watchOtherTabs(tell);
  const api = createApi(url, (request) => session.fetch(request));
  const { ask, restore, covers, coverUrl } = createConfig({ url, store, waiting });
  const copies = inPieces(timed(offlineStore ?? (browser.indexedDB ? indexedDbStore() : given)));
  const favoritesCopy = createCopy<Favorite>(copies, 'favorites');
  const historyCopy = createCopy<HistoryEntry>(copies, 'history');
  const progressCopy = createCopy<ProgressEntry>(copies, 'progress');
  const find = (id: string) => offline.get(id);
  const parts = { api, session, waiting, store, favoritesCopy, historyCopy, progressCopy, find, covers, restore };
  const { forget: forgetFavorites, ...favorites } = createFavorites(parts);
  const { forget: forgetPlays, ...plays } = createPlays(parts);
  const { forget: forgetProgress, flushFrom, drop, ...progress } = createProgress(parts);
  const history = createHistory({ ...parts, flushPlays: plays.flush, dropProgress: drop });
  const refresh = async (options?: CallOptions) => {
    await favorites.list(options).next();
    await history.list(options).next();
    await progress.sync(options);
  };
  const offline = createOffline({ ...parts, store: copies, refresh });
  const forgetCopies = async (userId: string) => {
    await favoritesCopy.forget(userId);
    await historyCopy.forget(userId);
    await progressCopy.forget(userId);
  };
  const forget = async (userId: string) => {
    await Promise.all([forgetFavorites(userId), forgetPlays(userId), forgetProgress(userId)]);
  };

  const flush = () => {
    // Changes that cannot be sent stay in the store.
    favorites.flush().catch(() => {});
    plays.flush().catch(() => {});
    progress.flush().catch(() => {});
  };
  browser.addEventListener?.('online', flush);
  flush();

  return {
    auth: createAuth({ url, waiting, session, forget, sendLast: flushFrom }) as Auth,
    session: currentUser as CurrentUser,
    sounds: createCatalogue(api, covers) as Catalogue,
    favorites: favorites as Favorites,
    history: history as History,
    plays: plays as Plays,
    progress: progress as Progress,
    offline: offline as Offline,

    customer: {
      /** Returns the customer record of the user. */
      get: async (options?: CallOptions): Promise<Customer> =>
        (await answer(api.GET('/me/customer', signalOf(options)))).data,
      /** Changes only the given fields. Null clears a field. */
      update: async (body: CustomerChanges, options?: CallOptions): Promise<Customer> =>
        (await answer(api.PATCH('/me/customer', { body, ...signalOf(options) }))).data,
    },

    /** Returns the settings for the screens before sign-in. Without a network, returns those of the last start. */
    config: ask,

    /** Returns the address of the cover of a sound; null when there is none. @param options `small` for lists */
    coverUrl,

    /** Returns the sections of the home page with their sounds. */
    async home(options?: CallOptions): Promise<HomeSection[]> {
      const [{ sections }] = await Promise.all([answer(api.GET('/home', signalOf(options))), covers()]);
      return sections;
    },

    /** Returns the tree of categories. Needs no session. */
    async categories(options?: CallOptions): Promise<Category[]> {
      const fetch = (request: Request) => session.fetch(request, { isForGuests: true });
      return (await answer(api.GET('/categories', { fetch, ...signalOf(options) }))).data;
    },

    /** Returns everything that the service stores about the user. */
    async export(options?: CallOptions): Promise<AccountExport> {
      const limits = { repeatable: false, timeLimitMs: exportLimitMs, attemptLimitMs: exportLimitMs };
      const fetch = (request: Request) => session.fetch(request, limits);
      return (await answer(api.GET('/me/export', { fetch, ...signalOf(options) }))).data;
    },

    /**
     * Calls an endpoint that has no method here, like `fetch` but with the session. Repeats GET, HEAD, PUT and DELETE.
     * @param path path below the URL of the service, such as `/sounds`
     * @returns a response of status 2xx
     * @throws SoundsError for every other response
     */
    fetch(path: `/${string}`, init?: RequestInit): Promise<Response> {
      const request = new Request(`${url}/${path.replace(/^\/+/, '')}`, init);
      return session.fetch(request, { repeatable: !['POST', 'PATCH'].includes(request.method) });
    },

    /** Returns the profile of the user. */
    me: async (options?: CallOptions): Promise<Profile> => (await answer(api.GET('/me', signalOf(options)))).data,
  };
}
