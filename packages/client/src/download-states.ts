import type { ErrorCode, ErrorReason } from './error.ts';
import { createListeners } from './listeners.ts';

/** State of a download. `storage`: the device cannot store the file. `quota`: the quota of the app is used up. */
export type DownloadState =
  | { status: 'waiting' }
  | { status: 'loading'; bytes: number; totalBytes: number | null }
  | { status: 'ready'; bytes: number }
  | { status: 'failed'; reason: 'quota' | 'storage' | ErrorCode | ErrorReason };

export type Failure = Extract<DownloadState, { status: 'failed' }>['reason'];

/** The states of all downloads, by the ids of the sounds. */
export type States = ReturnType<typeof createStates>;

export function createStates() {
  const { notify, subscribe } = createListeners();
  let states: ReadonlyMap<string, DownloadState> = new Map();

  return {
    /** Returns the state of each download. The map is a new one after each change. */
    all: (): ReadonlyMap<string, DownloadState> => states,

    /** Lists the sounds that wait for a download. */
    waiting: () => [...states].filter(([, { status }]) => status === 'waiting').map(([id]) => id),

    /** Changes the state of a sound, by default removes it. */
    set(id: string, state?: DownloadState) {
      const next = new Map(states);
      if (state) next.set(id, state);
      else next.delete(id);
      states = next;
      notify();
    },

    /** Calls `listener` after each change of a state. @returns a function that ends the subscription */
    subscribe,
  };
}
