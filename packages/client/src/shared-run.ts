import type { CallOptions } from './call.ts';
import { unlessAborted } from './wait.ts';

/** A run, with the number of its callers. */
interface Run {
  done: Promise<void>;
  callers: number;
  controller: AbortController;
}

/** Lets concurrent callers share one run of a task, which ends early only if all of them are aborted. */
export function createSharedRun(task: (options: CallOptions) => Promise<void>) {
  let running: Run | undefined;

  function start(): Run {
    const controller = new AbortController();
    return { done: task(controller), callers: 0, controller };
  }

  return async ({ signal }: CallOptions = {}): Promise<void> => {
    running ??= start();
    const run = running;
    run.callers += 1;
    try {
      await unlessAborted(run.done, signal);
    } finally {
      run.callers -= 1;
      if (run.callers === 0) {
        run.controller.abort();
        if (running === run) running = undefined;
      }
    }
  };
}
