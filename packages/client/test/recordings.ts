import { storeFile } from '../../../test/support/files.ts';
import type { Sql } from '../../../test/support/test.ts';
import { createDownloads, type DownloadOptions, type Files } from '../src/downloads.ts';

/** Creates downloads of a client. */
export const start = (api: DownloadOptions['api'], options: Omit<DownloadOptions, 'api'>) =>
  createDownloads({ api, ...options });

/** Stores files in memory, which a restart keeps. */
export function memoryFiles() {
  const stored = new Map<string, Uint8Array<ArrayBuffer>>();
  const write: Files['write'] = (name, bytes, { append }) => {
    const before = (append && stored.get(name)) || new Uint8Array();
    stored.set(name, new Uint8Array(Buffer.concat([before, bytes])));
  };
  return {
    stored,
    write,
    remove: (name: string) => void stored.delete(name),
    list: () => [...stored].map(([name, { length }]) => ({ name, bytes: length })),
    urlOf: (name: string) => `file:///${name}`,
  };
}

/** Stores a recording for a sound: 2.5 MB of one letter. */
export async function record(sql: Sql, id: string, letter: string, path = `downloads/${id}.m4a`) {
  const stored = await storeFile('audio', path, 'audio/mp4', letter.repeat(2_500_000));
  await sql`update public.sounds set audio_path = ${stored} where id = ${id}`;
}

/** Lets a test see and replace requests to Storage. */
export function storage() {
  const ranges: (string | null)[] = [];
  const works: (url: string) => Response | undefined | Promise<Response | undefined> = () => undefined;
  const server = { ranges, running: 0, mostRunning: 0, before: works, fetch };
  async function fetch(...[url, init]: Parameters<typeof globalThis.fetch>) {
    ranges.push(new Headers(init?.headers).get('Range'));
    server.mostRunning = Math.max(server.mostRunning, ++server.running);
    const response = (await server.before(String(url))) ?? (await globalThis.fetch(url, init));
    const bytes = await response.arrayBuffer();
    server.running -= 1;
    return new Response(bytes, response);
  }
  return server;
}
