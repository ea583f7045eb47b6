import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many calls of one key may be in flight. More bring little, and load a database that is slow already. */
const concurrency = 4;

/**
 * Lets identical calls share one. Nothing is kept afterwards; a failure reaches all who share it. A call runs with the
 * deadline of the request that made it.
 * @param recordJoined called for each call that is answered by another one
 */
export function createCoalescer(recordJoined: () => void = () => {}) {
  const joinable = new Map<string, Promise<unknown>>();
  const inFlight = new Map<string, Set<Promise<unknown>>>();

  /** @param call makes the call, and says from when on nobody may join it */
  function join<T>(key: string, call: (close: () => void) => Promise<T>): Promise<T> {
    if (joinable.has(key)) recordJoined();
    else
      joinable.set(
        key,
        call(() => joinable.delete(key)),
      );
    return joinable.get(key) as Promise<T>;
  }

  /** Each takes what tells identical calls from others, whole: nobody may get the answer of somebody else. */
  return {
    /** Joins only a call that has not started, so that nobody reads what is older than their request. */
    waiting<T>(what: unknown, call: () => Promise<T>): Promise<T> {
      const key = JSON.stringify(what);
      return join(key, async (close) => {
        await nextTurn(); // those who ask in the same turn of the event loop share the call
        const calls = inFlight.get(key) ?? new Set();
        inFlight.set(key, calls);
        while (calls.size >= concurrency) await Promise.race(calls);
        close();
        const result = call();
        const ended: Promise<boolean> = result.then(
          () => calls.delete(ended),
          () => calls.delete(ended),
        );
        calls.add(ended);
        void ended.then(() => calls.size === 0 && inFlight.delete(key));
        return result;
      });
    },

    /** Joins a call in flight: a double tap must not race itself, where Auth answers the loser with an error. */
    inFlight: <T>(what: unknown, call: () => Promise<T>): Promise<T> =>
      join(JSON.stringify(what), (close) => call().finally(close)),
  };
}
