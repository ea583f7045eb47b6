import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum number of concurrent executions of one read. More would burden a database that is already slow. */
const concurrency = 4;

/** Requests that wait for the same execution. */
interface Requests {
  /** Runs the read in the context of the youngest one, which has its deadline. */
  youngest: () => Promise<unknown>;
}

/**
 * Lets identical reads (with equal `what`) share one execution, which has the deadline of the youngest request. It
 * starts after all of them were requested, so that no response is older than its request. A failure rejects all.
 * @param recordJoined called for each read that shares the execution of another
 * @returns a function that runs a read
 */
export function createSharedReads(recordJoined: () => void = () => {}) {
  const waiting = new Map<string, { requests: Requests; result: Promise<unknown> }>();
  const inFlight = new Map<string, Set<Promise<unknown>>>();

  async function start(key: string, requests: Requests): Promise<unknown> {
    await nextTurn(); // requests of one turn of the event loop share the execution
    const running = inFlight.get(key) ?? new Set();
    inFlight.set(key, running);
    while (running.size >= concurrency) await Promise.race(running);
    waiting.delete(key); // later requests start another execution
    const result = requests.youngest();
    const ended: Promise<boolean> = result.then(
      () => running.delete(ended),
      () => running.delete(ended),
    );
    running.add(ended);
    void ended.then(() => {
      if (running.size === 0) inFlight.delete(key);
    });
    return result;
  }

  return <T>(what: unknown, read: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(what);
    const youngest = AsyncLocalStorage.bind(read);
    const joined = waiting.get(key);
    if (joined) {
      recordJoined();
      joined.requests.youngest = youngest;
      return joined.result as Promise<T>;
    }
    const requests = { youngest };
    const result = start(key, requests);
    waiting.set(key, { requests, result });
    return result as Promise<T>;
  };
}
