import { browser } from './browser.ts';
import type { CallOptions } from './call.ts';
import { type Audio, uuid } from './catalogue.ts';
import { createAddresses } from './download-addresses.ts';
import { contentTypeOf, createFolder, type Files, type Found, isComplete, isOfVersion } from './download-files.ts';
import { createLoader, failureOf } from './download-loader.ts';
import { createPremium } from './download-premium.ts';
import { createQueue } from './download-queue.ts';
import { createReader } from './download-reader.ts';
import { createStates, type DownloadState } from './download-states.ts';
import { locked } from './error.ts';
import type { Sounds } from './index.ts';

export type { Files, StoredFile } from './download-files.ts';
export type { DownloadState } from './download-states.ts';

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

/** An audio address that does not expire. */
const never = new Date(8.64e15);

/** Creates downloads, and continues those of the last start. Make one object for the whole app. */
export function createDownloads(options: DownloadOptions) {
  const { api } = options;
  const parts = createParts(options);
  const { folder, states, addresses, queue } = parts;
  const started = readStates(parts, api).catch(() => {});

  async function resume(): Promise<void> {
    addresses.forgetAll(); // they may be those of earlier versions
    await readStates(parts, api);
    await Promise.all([queue.work(), removeLongLocked(parts, api)]);
  }

  /** Removes files of sounds that are gone. Call it after a complete copy of the catalogue. */
  async function removeGone() {
    for (const id of await goneSounds(parts, api)) await removeFiles(parts, id);
  }

  const resumeSoon = () => void resume().catch(() => {});
  browser.addEventListener?.('online', resumeSoon);
  api.offline.subscribe(
    () =>
      void removeGone()
        .catch(() => {})
        .finally(resumeSoon),
  );
  api.session.subscribe(resumeSoon);
  resumeSoon();

  return {
    /**
     * Downloads sounds, two at once, and tries failed ones again. Resolves when the ids are stored, so that the
     * downloads continue after a restart. An id that cannot be stored fails with `storage`.
     */
    async add(...ids: string[]): Promise<void> {
      await started; // otherwise files that are complete would be requested
      for (const id of inLowerCase(ids)) await addSound(parts, id);
      queue.work().catch(() => {});
    },

    /** Ends the downloads of sounds and removes their files. */
    async remove(...ids: string[]): Promise<void> {
      for (const id of inLowerCase(ids)) await removeFiles(parts, id);
    },

    /**
     * Continues downloads and tries failed ones again, as the client does by itself when it is created, after
     * `offline.sync()`, after a sign-in, and when a browser is online again. Resolves when no download is waiting.
     */
    resume,

    /** Returns the state of each download. The map is a new one after each change. */
    states: states.all,

    /** Calls `listener` after each change of a state. @returns a function that ends the subscription */
    subscribe: states.subscribe,

    /**
     * Returns the address of the file on the device, or else the signed one of `sounds.audio`.
     * @throws SoundsError `locked` if the sound is premium and the user has no premium any more
     */
    async audioOf(id: string, callOptions?: CallOptions): Promise<Audio> {
      const [lowerId = ''] = inLowerCase([id]);
      const file = (await folder.list()).find((each) => each.id === lowerId && isComplete(each));
      if (!file) return api.sounds.audio(id, callOptions);
      if ((await isPremium(api, file)) && (await parts.premium.isOver())) throw locked();
      const url = await options.files.urlOf(file.name, contentTypeOf(file.name));
      return { id, url, expiresAt: never, renew: (renewing) => api.sounds.audio(id, renewing) };
    },
  };
}

type Parts = ReturnType<typeof createParts>;

type Api = DownloadOptions['api'];

function createParts(options: DownloadOptions) {
  const { api, files, quotaBytes = Number.POSITIVE_INFINITY, fetch: send = fetch } = options;
  const folder = createFolder(files);
  const states = createStates();
  const premium = createPremium({ api, files });
  const addresses = createAddresses(api, states.waiting);
  const read = createReader(addresses, send);
  const load = createLoader({ folder, addresses, read, premium, quotaBytes });
  const queue = createQueue(states, load, failureOf);
  return { folder, states, premium, addresses, queue };
}

/** Converts ids to the form of the service, because Swift and databases also write them in upper case. */
const inLowerCase = (ids: string[]) => ids.map((id) => id.toLowerCase());

/** Marks a sound for download, unless it is downloaded already. */
async function addSound({ folder, states }: Parts, id: string) {
  const { status } = states.all().get(id) ?? {};
  if (status && status !== 'failed') return;
  if (!uuid.test(id)) return states.set(id, { status: 'failed', reason: 'not_found' });
  let state: DownloadState = { status: 'waiting' };
  try {
    await folder.mark(id);
  } catch (error) {
    state = { status: 'failed', reason: failureOf(error) };
  }
  states.set(id, state);
}

/** Ends the download of a sound, and removes its files and its state. */
async function removeFiles({ folder, states, queue }: Parts, id: string) {
  states.set(id);
  await queue.end(id, async () => {
    for (const file of await folder.list()) if (file.id === id) await folder.remove(file.name);
  });
}

/** Reads the states of all files. Sounds whose file is missing or of an earlier version wait for a download. */
async function readStates({ folder, states, queue }: Parts, api: Api) {
  const found = await folder.list();
  for (const id of new Set(found.map((file) => file.id))) {
    if (queue.isActive(id)) continue;
    const version = (await api.offline.get(id))?.audio_version;
    const file = found.find((each) => each.id === id && isComplete(each) && isOfVersion(each, version));
    states.set(id, file ? { status: 'ready', bytes: file.bytes } : { status: 'waiting' });
  }
}

/** Lists downloaded sounds that were hidden or deleted. */
async function goneSounds({ folder }: Parts, api: Api): Promise<string[]> {
  const missing = new Set<string>();
  for (const { id } of await folder.list()) if ((await api.offline.get(id)) === null) missing.add(id);
  // Ask the service, because a sound that is newer than the copy is missing there, too.
  for await (const { id } of api.sounds.files([...missing])) missing.delete(id);
  return [...missing];
}

async function isPremium(api: Api, { id, isPremium: wasPremium }: Found) {
  return (await api.offline.get(id))?.is_premium ?? wasPremium;
}

/** Asks for the end of premium if a file depends on it. Removes such files a month after the end. */
async function removeLongLocked({ folder, premium, states }: Parts, api: Api) {
  const found: Found[] = [];
  for (const file of await folder.list()) if (file.version !== '' && (await isPremium(api, file))) found.push(file);
  if (found.length === 0) return;
  await premium.ask().catch(() => {}); // without a network, the last answer counts
  if (!(await premium.isLongOver())) return;
  for (const { id, name } of found) {
    await folder.startAnew(id, name); // the sound is downloaded again when there is premium
    states.set(id, { status: 'failed', reason: 'locked' });
  }
}
