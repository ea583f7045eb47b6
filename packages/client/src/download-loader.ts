import type { Addresses } from './download-addresses.ts';
import { type Folder, nameOf } from './download-files.ts';
import { notTheRecording } from './download-part.ts';
import type { Premium } from './download-premium.ts';
import type { Reader } from './download-reader.ts';
import type { DownloadState, Failure } from './download-states.ts';
import { noAnswer, SoundsError } from './error.ts';
import { exclusively } from './lock.ts';

interface Options {
  folder: Folder;
  addresses: Addresses;
  read: Reader;
  premium: Premium;
  quotaBytes: number;
}

type Report = (state: DownloadState) => void;

const overQuota = new Error('The quota is used up.');

/** Returns the reason of a failed download. */
export function failureOf(error: unknown): Failure {
  if (error === overQuota) return 'quota';
  return error instanceof SoundsError ? (error.reason ?? error.code) : 'storage';
}

/** Creates a function that downloads the recording of a sound, or its missing part. */
export function createLoader({ folder, addresses, read, premium, quotaBytes }: Options) {
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

  /** Checks the size of a complete file, and removes files of earlier versions. */
  async function finish(id: string, name: string, totalBytes: number) {
    const found = (await folder.list()).filter((file) => file.id === id);
    if (found.find((file) => file.name === name)?.bytes !== totalBytes) {
      await folder.startAnew(id, name);
      throw new Error('The device has stored another number of bytes.');
    }
    for (const file of found) if (file.name !== name) await folder.remove(file.name);
  }

  return async function load(id: string, report: Report, signal: AbortSignal): Promise<void> {
    const recording = await addresses.recordingOf(id, signal);
    const { version, bytes: totalBytes, isPremium } = recording;
    const name = nameOf(id, recording, isPremium);
    let bytes = await reserve(id, name, totalBytes);
    if (isPremium) await premium.ask(signal);
    report({ status: 'loading', bytes, totalBytes });
    let mayBeMixed = bytes > 0;
    try {
      for await (const piece of read(id, recording, bytes, signal)) {
        mayBeMixed ||= piece.version !== version;
        const isLast = bytes + piece.bytes.length >= totalBytes;
        if (isLast && mayBeMixed) addresses.forget(id);
        if ((await addresses.recordingOf(id, signal)).version !== version) break;
        await folder.append(name, piece.bytes);
        bytes += piece.bytes.length;
        if (!isLast) report({ status: 'loading', bytes, totalBytes });
      }
    } catch (error) {
      if (error !== notTheRecording) throw error;
      await folder.startAnew(id, name);
      throw noAnswer();
    }
    if (bytes < totalBytes) {
      // The recording has changed meanwhile.
      await folder.startAnew(id, name);
      return load(id, report, signal);
    }
    await finish(id, name, totalBytes);
    report({ status: 'ready', bytes });
  };
}
