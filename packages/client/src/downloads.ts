import { browser } from './browser.ts';
import type { CallOptions } from './call.ts';
import { type Audio, uuid } from './catalogue.ts';
import { createFolder, type Files, type Found, isComplete, isOfVersion } from './download-files.ts';
import { createLoader, type DownloadState, failureOf } from './download-loader.ts';
import { locked } from './error.ts';
import type { Sounds } from './index.ts';
import { exclusively } from './lock.ts';

export type { Files, StoredFile } from './download-files.ts';
export type { DownloadState } from './download-loader.ts';

export interface DownloadOptions {
  api: Pick<Sounds, 'sounds' | 'offline' | 'customer' | 'session'>;
  files: Files;
  /** Maximum size of all downloads together. Default: no limit. */
  quotaBytes?: number | undefined;
  /** Replaces the global `fetch`, for runtimes where it returns no bytes. */
  fetch?: typeof fetch | undefined;
}

/** Keeps the audio of sounds on the device. */
export interface Downloads extends ReturnType<typeof createDownloads> {}

const downloadsAtOnce = 2;

const dayMs = 86_400_000;

/** Days for which files of premium sounds stay after premium has ended. */
const daysAfterPremium = 30;

/** Time limit of the request that checks whether premium was renewed. */
const questionLimitMs = 5_000;

/** An audio address that does not expire. */
const never = new Date(8.64e15);

/** Creates downloads, and continues those of the last start. Make one object for the whole app. */
export function createDownloads(options: DownloadOptions) {
  const { api, files } = options;
  const folder = createFolder(files);
  const listeners = new Set<() => void>();
  const active = new Map<string, AbortController>();
  const workers = new Set<Promise<void>>();
  let states: ReadonlyMap<string, DownloadState> = new Map();

  function set(id: string, state?: DownloadState) {
    const next = new Map(states);
    if (state) next.set(id, state);
    else next.delete(id);
    states = next;
    for (const listener of [...listeners]) listener();
  }

  const waiting = () => [...states].filter(([, { status }]) => status === 'waiting').map(([id]) => id);

  const { load, forgetAddresses } = createLoader({ ...options, folder, waiting, askPremium });

  /** Downloads one sound after the other. */
  async function worker() {
    for (let id = waiting()[0]; id !== undefined; id = waiting()[0]) {
      await download(id);
      active.delete(id);
    }
  }

  function download(id: string): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const report = (state: DownloadState) => {
      if (!signal.aborted) set(id, state);
    };
    report({ status: 'loading', bytes: 0, totalBytes: null });
    // Another tab may be downloading the same sound.
    const done = exclusively(`sounds.download.${id}`, () => load(id, report, signal), dayMs).catch((error) =>
      report({ status: 'failed', reason: failureOf(error) }),
    );
    active.set(id, controller);
    return done;
  }

  async function work(): Promise<void> {
    while (workers.size < downloadsAtOnce && waiting().length > 0) {
      const working: Promise<void> = worker().finally(() => workers.delete(working));
      workers.add(working);
    }
    await Promise.all(workers);
  }

  async function askPremium(signal?: AbortSignal) {
    await folder.setPremiumUntil((await api.customer.get({ signal })).premium_until);
  }

  async function isPremium({ id, isPremium: wasPremium }: Found) {
    return (await api.offline.get(id))?.is_premium ?? wasPremium;
  }

  /** Requests the end of premium if a file depends on it, and removes such files 30 days after it. */
  async function checkPremium() {
    const premium: Found[] = [];
    for (const file of await folder.list()) if (file.version !== '' && (await isPremium(file))) premium.push(file);
    if (premium.length === 0) return;
    await askPremium().catch(() => {}); // without a network, the last date counts
    if ((await folder.premiumUntil()) + daysAfterPremium * dayMs > Date.now()) return;
    for (const { id, name } of premium) {
      await folder.mark(id); // the sound is downloaded again when there is premium
      await files.remove(name);
      set(id, { status: 'failed', reason: 'locked' });
    }
  }

  /** Reads the states of all files. Sounds whose file is missing or of an earlier version wait for a download. */
  async function readStates() {
    const found = await folder.list();
    for (const id of new Set(found.map((file) => file.id))) {
      if (active.has(id)) continue;
      const version = (await api.offline.get(id))?.audio_version;
      const file = found.find((each) => each.id === id && isComplete(each) && isOfVersion(each, version));
      set(id, file ? { status: 'ready', bytes: file.bytes } : { status: 'waiting' });
    }
  }

  async function resume(): Promise<void> {
    forgetAddresses(); // they may be those of earlier versions
    await readStates();
    await Promise.all([work(), checkPremium()]);
  }

  const resumeSoon = () => void resume().catch(() => {});
  browser.addEventListener?.('online', resumeSoon);
  api.offline.subscribe(resumeSoon);
  api.session.subscribe(resumeSoon);
  const started = readStates().catch(() => {});
  resumeSoon();

  return {
    /**
     * Downloads sounds, two at once, and tries failed ones again. Resolves when the ids are stored, so that the
     * downloads continue after a restart.
     */
    async add(...ids: string[]): Promise<void> {
      await started; // otherwise files that are complete would be requested
      for (const id of ids) {
        const { status } = states.get(id) ?? {};
        if (status && status !== 'failed') continue;
        if (!uuid.test(id)) {
          set(id, { status: 'failed', reason: 'not_found' });
          continue;
        }
        await folder.mark(id);
        set(id, { status: 'waiting' });
      }
      work().catch(() => {});
    },

    /** Ends the downloads of sounds and removes their files. */
    async remove(...ids: string[]): Promise<void> {
      for (const id of ids) {
        active.get(id)?.abort();
        set(id);
        await exclusively(`sounds.download.${id}`, async () => {
          for (const file of await folder.list()) if (file.id === id) await files.remove(file.name);
        });
      }
    },

    /**
     * Continues downloads and tries failed ones again, as the client does by itself when it is created, after
     * `offline.sync()`, after a sign-in, and when a browser is online again. Resolves when no download is waiting.
     */
    resume,

    /** Returns the state of each download. The map is a new one after each change. */
    states: (): ReadonlyMap<string, DownloadState> => states,

    /** Calls `listener` after each change of a state. @returns a function that ends the subscription */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /**
     * Returns the address of the file on the device, or else the signed one of `sounds.audio`.
     * @throws SoundsError `locked` if the sound is premium and the user has no premium any more
     */
    async audioOf(id: string, callOptions?: CallOptions): Promise<Audio> {
      const file = (await folder.list()).find((each) => each.id === id && isComplete(each));
      if (!file) return api.sounds.audio(id, callOptions);
      const isLocked = async () => (await folder.premiumUntil()) <= Date.now();
      if ((await isPremium(file)) && (await isLocked())) {
        const controller = new AbortController();
        const timer = setTimeout(() => controller.abort(), questionLimitMs);
        await askPremium(controller.signal).catch(() => {});
        clearTimeout(timer);
        if (await isLocked()) throw locked();
      }
      const url = await files.urlOf(file.name);
      return { id, url, expiresAt: never, renew: (renewing) => api.sounds.audio(id, renewing) };
    },
  };
}
