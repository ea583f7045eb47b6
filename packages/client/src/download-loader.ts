import type { Sound, SoundFiles } from './catalogue.ts';
import { type createFolder, type Files, nameOf } from './download-files.ts';
import { type ErrorCode, type ErrorReason, locked, noAnswer, SoundsError } from './error.ts';
import type { Sounds } from './index.ts';
import { exclusively } from './lock.ts';
import { pause, within } from './wait.ts';

/** State of a download. `storage`: the device cannot store the file. `quota`: the quota of the app is used up. */
export type DownloadState =
  | { status: 'waiting' }
  | { status: 'loading'; bytes: number; totalBytes: number | null }
  | { status: 'ready'; bytes: number }
  | { status: 'failed'; reason: 'quota' | 'storage' | ErrorCode | ErrorReason };

type Failure = Extract<DownloadState, { status: 'failed' }>['reason'];

type Options = {
  api: Pick<Sounds, 'sounds'>;
  files: Files;
  folder: ReturnType<typeof createFolder>;
  quotaBytes?: number | undefined;
  fetch?: typeof fetch | undefined;
  /** Lists the sounds that will be downloaded next. */
  waiting: () => string[];
  /** Stores when premium ends. */
  askPremium: (signal?: AbortSignal) => Promise<void>;
};

/** Files of a sound, and the time at which their addresses were received. */
type Known = Partial<SoundFiles> & { isPremium: boolean; cameAt: number };

/** Number of bytes in one request. */
const partBytes = 1_000_000;

const partLimitMs = 120_000;

const soundsAtOnce = 50;

/** Shorter than the five minutes for which an address is valid. */
const addressLimitMs = 240_000;

/** Pauses before a part is requested again. */
const pausesMs = [1_000, 2_000, 4_000];

const notFound = () => new SoundsError('There is no such recording.', { status: 404, code: 'not_found' });

const overQuota = new Error('The quota is used up.');

export function failureOf(error: unknown): Failure {
  if (error === overQuota) return 'quota';
  return error instanceof SoundsError ? (error.reason ?? error.code) : 'storage';
}

/** Creates a function that downloads the recording of a sound, or its missing part. */
export function createLoader(options: Options) {
  const { api, files, folder, quotaBytes = Number.POSITIVE_INFINITY, waiting, askPremium } = options;
  const known = new Map<string, Known>();

  /** Returns the files of a sound, and asks for those of the next sounds in the same request. */
  async function filesOf(id: string, signal: AbortSignal): Promise<Known> {
    const found = known.get(id);
    if (found && performance.now() - found.cameAt < addressLimitMs) return found;
    const ids = [id, ...waiting()].slice(0, soundsAtOnce);
    const cameAt = performance.now();
    const { data } = await api.sounds.page({ ids }, { signal });
    const premium = new Set(data.filter((sound: Sound) => sound.is_premium).map((sound) => sound.id));
    known.set(id, { isPremium: false, cameAt });
    for await (const each of api.sounds.files(ids, { signal }))
      known.set(each.id, { ...each, isPremium: premium.has(each.id), cameAt });
    return known.get(id) as Known;
  }

  /** Returns the recording of a sound. @throws SoundsError if there is none */
  async function recordingOf(id: string, signal: AbortSignal) {
    const { audio, is_locked, isPremium } = await filesOf(id, signal);
    if (is_locked) throw locked();
    const { version, bytes } = audio ?? {};
    if (!audio || !version || !bytes) throw notFound();
    return { ...audio, version, bytes, isPremium };
  }

  /** Requests a part of a recording. @returns its bytes and version; null if the recording has changed */
  async function partOf(id: string, first: number, version: string, signal: AbortSignal) {
    let hasNewAddress = false;
    for (let attempt = 0; ; ) {
      const recording = await recordingOf(id, signal);
      if (recording.version !== version) return null;
      const end = Math.min(first + partBytes, recording.bytes);
      const request = { headers: { Range: `bytes=${first}-${end - 1}` }, signal };
      const read = async () => {
        const response = await (options.fetch ?? fetch)(recording.url, request);
        const whole = response.ok ? new Uint8Array(await response.arrayBuffer()) : new Uint8Array();
        const bytes = response.status === 206 ? whole : whole.subarray(first, end); // a server may ignore Range
        // Browsers may hide the ETag.
        const version = response.headers.get('ETag')?.replace(/^(W\/)?"|"$/g, '');
        return { isRejected: response.status >= 400 && response.status < 500, bytes, version };
      };
      const part = await within(partLimitMs, read()).catch(() => null);
      if (part && part.bytes.length > 0) return part;
      if (part?.isRejected) {
        if (hasNewAddress) throw notFound();
        hasNewAddress = true;
        known.delete(id); // the address may have expired
        continue;
      }
      const pauseMs = pausesMs[attempt++];
      if (pauseMs === undefined) throw noAnswer();
      await pause(pauseMs, signal, true);
    }
  }

  /** Reserves space for a file. @returns number of bytes that were downloaded before */
  const reserve = (id: string, name: string, totalBytes: number) =>
    exclusively('sounds.downloads', async () => {
      const found = await folder.list();
      const others = found.filter((file) => file.id !== id).map((file) => Math.max(file.totalBytes, file.bytes));
      if (others.reduce((sum, bytes) => sum + bytes, totalBytes) > quotaBytes) throw overQuota;
      const bytes = found.find((file) => file.name === name)?.bytes ?? 0;
      if (bytes > 0 && bytes <= totalBytes) return bytes;
      await folder.create(name);
      return 0;
    });

  async function load(id: string, report: (state: DownloadState) => void, signal: AbortSignal): Promise<void> {
    const recording = await recordingOf(id, signal);
    const { version, bytes: totalBytes } = recording;
    const name = nameOf(id, recording, recording.isPremium);
    let bytes = await reserve(id, name, totalBytes);
    if (recording.isPremium) await askPremium(signal);
    let mayBeMixed = bytes > 0;
    while (bytes < totalBytes) {
      report({ status: 'loading', bytes, totalBytes });
      const part = await partOf(id, bytes, version, signal);
      mayBeMixed ||= part?.version !== version;
      const isLast = part && bytes + part.bytes.length >= totalBytes;
      if (isLast && mayBeMixed) known.delete(id);
      if (!part || (await recordingOf(id, signal)).version !== version) {
        await folder.mark(id);
        await files.remove(name);
        return load(id, report, signal);
      }
      await files.write(name, part.bytes, { append: true });
      bytes += part.bytes.length;
    }
    for (const file of await folder.list()) if (file.id === id && file.name !== name) await files.remove(file.name);
    report({ status: 'ready', bytes });
  }

  return { load, forgetAddresses: () => known.clear() };
}
