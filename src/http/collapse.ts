import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many runs of one read may be under way. More bring little, and load a database that is slow already. */
const runsAtOnce = 4;

/**
 * Answers identical reads that are asked for at the same time by one run, without ever being stale: whoever asks gets
 * the result of a run that starts after they asked. Nothing is kept afterwards; a failure reaches all who wait for it. A
 * run has the deadline of the request that asked for it first.
 * @param noteJoined called for each read that is answered by a run which somebody else asked for
 */
export function createCollapser<T>(noteJoined: () => void = () => {}) {
  type Read = { next: Promise<T> | null; underWay: Set<Promise<unknown>> };
  const reads = new Map<string, Read>();

  async function startNext(key: string, read: Read, run: () => Promise<T>): Promise<T> {
    await nextTurn(); // those who ask in the same turn of the event loop share the run
    while (read.underWay.size >= runsAtOnce) await Promise.race(read.underWay);
    read.next = null;
    const result = run();
    const ended: Promise<unknown> = result
      .catch(() => {})
      .then(() => {
        read.underWay.delete(ended);
        if (read.underWay.size === 0 && read.next === null) reads.delete(key);
      });
    read.underWay.add(ended);
    return result;
  }

  /**
   * @param key says what is read; two reads with one key must have the same result
   * @param run reads it; called once for everyone who waits by then
   */
  return (key: string, run: () => Promise<T>): Promise<T> => {
    const read = reads.get(key) ?? { next: null, underWay: new Set() };
    reads.set(key, read);
    if (read.next !== null) noteJoined();
    read.next ??= startNext(key, read, run);
    return read.next;
  };
}
