import { type Auth, createAuth } from './auth.ts';
import { browser } from './browser.ts';
import { createCalls } from './calls.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { createConfig } from './config.ts';
import type { CurrentUser } from './current-user.ts';
import { createDevices, type Devices } from './devices.ts';
import { createCopy, createEntries } from './entries.ts';
import type { Adopting } from './guests.ts';
import { createListeners } from './listeners.ts';
import type { Favorite, HistoryEntry, ProgressEntry } from './resources.ts';
import type { Wait } from './send.ts';
import { createService } from './service.ts';
import { createSession, type DeviceSession } from './session.ts';
import { type Store, storesOf } from './store.ts';
import { type Session, type SessionEvent, type User, watchOtherTabs } from './stored-session.ts';
import { createUserData } from './user-data.ts';

export { attachAudio } from './attach-audio.ts';
export type { AudioElement } from './audio-element.ts';
export type { Auth } from './auth.ts';
export type { CallOptions, FlushOptions } from './call.ts';
export type { Audio, Catalogue, Filters, Page, Sound, SoundDetail, SoundFiles } from './catalogue.ts';
export type { CopiedSound } from './catalogue-copy.ts';
export type { AppConfig } from './config.ts';
export type { OfflineFilters } from './copied-lists.ts';
export type { CurrentUser } from './current-user.ts';
export type { Device, Devices } from './devices.ts';
export { type ErrorCode, type ErrorReason, SoundsError } from './error.ts';
export type { Favorites } from './favorites.ts';
export { gainOf, type Measured } from './gain.ts';
export type { History } from './history.ts';
export type { Offline } from './offline.ts';
export type { Plays } from './plays.ts';
export type { Progress } from './progress.ts';
export type * from './resources.ts';
export type { AppleCode } from './revoke-apple.ts';
export type { Wait } from './send.ts';
export type { MailedCode } from './sign-in.ts';
export { indexedDbStore, memoryStore, type Store } from './store.ts';
export type { SessionEvent, User } from './stored-session.ts';

export interface Options {
  /** URL of the service, with `/api/v1`. */
  url: string;
  /** Stores tokens and unsent changes: localStorage, AsyncStorage, SecureStore. Default: memory, as on a server. */
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

/** Returns the address of the service without slashes at its end. @throws TypeError if it is not a usable URL */
function addressOf(url: unknown): string {
  const hasOrigin = /^https?:\/\/./i.test(`${url}`) || browser.location?.origin;
  if (typeof url === 'string' && url && hasOrigin) return url.replace(/\/+$/, '');
  throw new TypeError(`url is ${url}. Pass one like https://example.com/api/v1.`);
}

/** Returns the user who is signed in. Reads the store once more if that has failed before. */
function currentUser({ user, load }: DeviceSession): User | null | undefined {
  if (user() === undefined) load().catch(() => {});
  return user();
}

/** Has the user adopt the guests that were signed in on this device before. Loads the code for it only then. */
async function adoptWaiting(parts: Adopting): Promise<void> {
  const user = (await parts.session.load())?.user;
  if (!user || Object.keys(await parts.guests.read(user.id)).length === 0) return;
  const { adoptGuests } = await import('./guests.ts');
  await adoptGuests(parts, user);
}

/** Makes a client. One is enough for the whole app. */
export function createSounds(options: Options) {
  const url = addressOf(options.url);
  const { store, copies } = storesOf(options);
  const { timeLimitMs = 60_000, onWait } = options;
  const waiting = { timeLimitMs, onWait, service: createService() };
  const { notify, subscribe } = createListeners();
  const forgetCopies = (user: User) => data.forgetCopies(user);
  const onSession = (event: SessionEvent) => {
    const { type, user } = event;
    if (type === 'signedIn') send();
    if (type === 'signedOut') forgetCopies(user);
    if (type === 'signedIn' || type === 'signedOut' || type === 'adopted') notify(); // lists.ts then reads them again
    options.onSession?.(event);
  };
  const guests = createEntries<Session>(store, 'guests');
  const hooks = { onSession, onLoad: notify, guests, onReplaced: forgetCopies };
  const session = createSession({ url, store, waiting, ...hooks });
  const isSignedIn = async (userId: string) => (await session.load())?.user.id === userId;
  watchOtherTabs(session.load);
  const api = session.api();
  const { ask, restore, withCovers, coverUrl } = createConfig({ url, store, waiting });
  const parts = {
    api,
    session,
    waiting,
    store,
    withCovers,
    restore,
    favoritesCopy: createCopy<Favorite>(copies, 'favorites', isSignedIn),
    historyCopy: createCopy<HistoryEntry>(copies, 'history', isSignedIn),
    progressCopy: createCopy<ProgressEntry>(copies, 'progress', isSignedIn),
  };
  const data = createUserData(parts, copies);

  /** Sends unsent changes. Those that cannot be sent now stay in the store. */
  function send() {
    adoptWaiting({ url, waiting, session, store, guests, data, onSession }).catch(() => {});
    data.send();
  }
  browser.addEventListener?.('online', send);
  send();

  return {
    auth: createAuth({ url, waiting, session, guests, data }) as Auth,
    session: { subscribe, user: () => currentUser(session) } as CurrentUser,
    devices: createDevices(api) as Devices,
    sounds: createCatalogue(api, withCovers) as Catalogue,
    ...data.collections,

    /** Returns the settings for the screens before sign-in. Without a network, returns those of the last start. */
    config: ask,

    /** Returns the address of the cover of a sound; null when there is none. @param options `small` for lists */
    coverUrl,

    ...createCalls(url, parts),
  };
}
