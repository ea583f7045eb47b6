import { setImmediate as nextTurn } from 'node:timers/promises';

/** Executions of one read in flight. More bring little, and load a database that is slow already. */
const concurrency = 4;

/**
 * Lets identical reads share one execution that starts after all of them were requested, so that no response is older than its
 * request. It is no cache. A failure rejects all requests that share the execution.
 * @param recordJoined called for each read that shares the execution of another
 * @returns a function that runs a read. Reads are equal if `what` is equal; a read has the deadline of the request that started it
 */
export function createSharedReads(recordJoined: () => void = () => {}) {
  const waiting = new Map<string, Promise<unknown>>();
  const inFlight = new Map<string, Set<Promise<unknown>>>();

  async function start<T>(key: string, read: () => Promise<T>): Promise<T> {
    await nextTurn(); // requests of one turn of the event loop share the execution
    const running = inFlight.get(key) ?? new Set();
    inFlight.set(key, running);
    while (running.size >= concurrency) await Promise.race(running);
    waiting.delete(key);
    const result = read();
    const ended: Promise<boolean> = result.then(
      () => running.delete(ended),
      () => running.delete(ended),
    );
    running.add(ended);
    void ended.then(() => running.size === 0 && inFlight.delete(key));
    return result;
  }

  return <T>(what: unknown, read: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(what);
    if (waiting.has(key)) recordJoined();
    else waiting.set(key, start(key, read));
    return waiting.get(key) as Promise<T>;
  };
}
