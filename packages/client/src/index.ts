import createClient from 'openapi-fetch';
import { createAuth } from './auth.ts';
import { browser } from './browser.ts';
import { answer, type CallOptions, signalOf } from './call.ts';
import { createCatalogue } from './catalogue.ts';
import { type AppConfig, createConfig } from './config.ts';
import { createCurrentUser } from './current-user.ts';
import type { components, paths } from './document.types.ts';
import { createFavorites } from './favorites.ts';
import { createHistory } from './history.ts';
import { createOffline } from './offline.ts';
import { createPlays } from './plays.ts';
import type { Wait } from './send.ts';
import { createSession, type SessionEvent, watchOtherTabs } from './session.ts';
import { indexedDbStore, type Store } from './store.ts';

export { type AudioElement, attachAudio } from './attach-audio.ts';
export type { MailedCode } from './auth.ts';
export type { CallOptions } from './call.ts';
export type { Audio, Filters, Page, Sound, SoundDetail, SoundFiles } from './catalogue.ts';
export type { AppConfig } from './config.ts';
export { type ErrorCode, type ErrorReason, SoundsError } from './error.ts';
export type { Favorite } from './favorites.ts';
export type { HistoryEntry } from './history.ts';
export type { CopiedSound, OfflineFilters } from './offline.ts';
export type { Wait } from './send.ts';
export type { SessionEvent, User } from './session.ts';
export { indexedDbStore, memoryStore, type Store } from './store.ts';

export type AccountExport = components['schemas']['AccountExport'];
export type Category = components['schemas']['Category'];
export type Customer = components['schemas']['Customer'];
export type HomeSection = components['schemas']['HomeSection'];
export type Profile = components['schemas']['Profile'];

type Changes = paths['/me/customer']['patch']['requestBody']['content']['application/json'];

export interface Options {
  /** Of the service, with `/api/v1`. */
  url: string;
  /** Keeps the tokens and what waits for a network: localStorage, AsyncStorage, SecureStore … */
  store: Store;
  /** Keeps the copy of the catalogue, which may be megabytes: IndexedDB unless said, and `store` where there is none. */
  offlineStore?: Store;
  /** Told whenever the session of this device begins, gets new tokens, or ends. */
  onSession?: (event: SessionEvent) => void;
  /** What a request may take with all its repetitions, in milliseconds. */
  timeLimitMs?: number;
  /** Told whenever a call waits before it is sent again: show it, and until when. */
  onWait?: (wait: Wait) => void;
}

/** The client of a Sounds Service for one user at a time: make one for the whole app. */
export function createSounds({ url, store, offlineStore, onSession, timeLimitMs = 60_000, onWait }: Options) {
  const waiting = { timeLimitMs, onWait };
  const tell = (event: SessionEvent) => {
    follow(event);
    if (event.type === 'signedIn') flush();
    onSession?.(event);
  };
  const session = createSession({ url, store, waiting, onSession: tell });
  const { follow, ...currentUser } = createCurrentUser(session.load().then((found) => found?.user ?? null));
  watchOtherTabs(tell);
  const api = createClient<paths>({ baseUrl: url, fetch: (request) => session.fetch(request) });
  const { ask, covers, coverUrl } = createConfig({ url, store, waiting });
  const { forget: forgetFavorites, ...favorites } = createFavorites({ api, session, store, covers });
  const { forget: forgetPlays, ...plays } = createPlays({ api, session, store });
  const forget = async (userId: string) => {
    await forgetFavorites(userId);
    await forgetPlays(userId);
  };

  const flush = () => {
    // What cannot be sent goes on waiting.
    favorites.flush().catch(() => {});
    plays.flush().catch(() => {});
  };
  browser.addEventListener?.('online', flush);
  flush();

  return {
    auth: createAuth({ url, waiting, session, forget }),
    session: currentUser,
    sounds: createCatalogue(api, covers),
    favorites,
    history: createHistory(api, covers),
    plays,
    offline: createOffline(api, offlineStore ?? (browser.indexedDB ? indexedDbStore() : store)),

    customer: {
      async get(options?: CallOptions): Promise<Customer> {
        return (await answer(api.GET('/me/customer', signalOf(options)))).data;
      },
      /** Changes what is named, and nothing else; null clears a text. */
      async update(body: Changes, options?: CallOptions): Promise<Customer> {
        return (await answer(api.PATCH('/me/customer', { body, ...signalOf(options) }))).data;
      },
    },

    /**
     * What an app must know before anybody signs in: which buttons to show. Without a network, as it was at the last start.
     */
    config: (options?: CallOptions): Promise<AppConfig> => ask(options),

    /** The address of the cover of a sound; null when there is none. */
    coverUrl,

    /** The sections of the home page with their sounds. */
    async home(options?: CallOptions): Promise<HomeSection[]> {
      const [{ sections }] = await Promise.all([answer(api.GET('/home', signalOf(options))), covers()]);
      return sections;
    },

    /** The tree of categories; nobody needs to be signed in. */
    async categories(options?: CallOptions): Promise<Category[]> {
      return (await answer(api.GET('/categories', signalOf(options)))).data;
    },

    /** Everything that the service keeps of the user, as one object. */
    async export(options?: CallOptions): Promise<AccountExport> {
      return (await answer(api.GET('/me/export', signalOf(options)))).data;
    },

    /**
     * Asks an endpoint that this client does not know yet, with the session, as `fetch` does. Only what may be done twice is
     * sent again after no answer: GET, HEAD, PUT and DELETE.
     * @param path below the URL of the service: `/sounds`
     * @returns an answer of status 2xx @throws SoundsError any other
     */
    fetch(path: `/${string}`, init?: RequestInit): Promise<Response> {
      const request = new Request(url + path, init);
      return session.fetch(request, { repeatable: !['POST', 'PATCH'].includes(request.method) });
    },

    /** Who the service says is signed in. */
    async me(options?: CallOptions): Promise<Profile> {
      return (await answer(api.GET('/me', signalOf(options)))).data;
    },
  };
}

export type Sounds = ReturnType<typeof createSounds>;
