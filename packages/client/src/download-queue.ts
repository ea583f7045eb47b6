import type { DownloadState, Failure, States } from './download-states.ts';
import { exclusively } from './lock.ts';

/** Downloads the recording of a sound, or its missing part. */
type Load = (id: string, report: (state: DownloadState) => void, signal: AbortSignal) => Promise<void>;

const downloadsAtOnce = 2;

const dayMs = 86_400_000;

/** Runs the downloads that are waiting. */
export function createQueue(states: States, load: Load, failureOf: (error: unknown) => Failure) {
  const active = new Map<string, AbortController>();
  const workers = new Set<Promise<void>>();

  async function download(id: string): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const report = (state: DownloadState) => {
      if (!signal.aborted) states.set(id, state);
    };
    active.set(id, controller);
    report({ status: 'loading', bytes: 0, totalBytes: null });
    try {
      // Another tab may be downloading the same sound.
      await exclusively(lockOf(id), () => load(id, report, signal), dayMs);
    } catch (error) {
      report({ status: 'failed', reason: failureOf(error) });
    }
    if (active.get(id) === controller) active.delete(id);
  }

  /** Downloads one sound after the other. */
  async function worker() {
    for (let id = states.waiting()[0]; id !== undefined; id = states.waiting()[0]) await download(id);
  }

  return {
    isActive: (id: string) => active.has(id),

    /** Starts downloads that are waiting. Resolves when none is left. */
    async work(): Promise<void> {
      while (workers.size < downloadsAtOnce && states.waiting().length > 0) {
        const working: Promise<void> = worker().finally(() => workers.delete(working));
        workers.add(working);
      }
      await Promise.all(workers);
    },

    /** Ends the download of a sound, then runs a task on its files. */
    async end(id: string, task: () => Promise<void>) {
      active.get(id)?.abort();
      await exclusively(lockOf(id), task);
    },
  };
}

const lockOf = (id: string) => `sounds.download.${id}`;
