import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum number of concurrent executions of one read. More would burden a database that is already slow. */
const concurrency = 4;

/**
 * Lets identical reads share one execution. It starts after all of them were requested, so that no response is older
 * than its request. A failure rejects all of them.
 * @param recordJoined called for each read that shares the execution of another
 * @returns a function that runs a read with the deadline of its first request. Reads are identical if `what` is equal
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
