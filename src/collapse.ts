import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long the next run waits for the one before it, in milliseconds: one that hangs must not hold up everybody who
 * came after it.
 */
const patienceMs = 250;

type Runs<T> = { current: Promise<T>; next: Promise<T> | null };

/**
 * Answers identical reads that are asked for at the same time by one run, without ever being stale: whoever asks while
 * a run is under way gets the result of the next one, which starts after they asked. Nothing is kept afterwards, and a
 * failure reaches everyone who waits for the run that failed.
 * @param noteJoined called for each read that is answered by a run which somebody else asked for
 */
export function createCollapser<T>(noteJoined: () => void = () => {}) {
  const reads = new Map<string, Runs<T>>();

  function start(key: string, run: () => Promise<T>): Promise<T> {
    const current = run();
    const runs: Runs<T> = { current, next: null };
    reads.set(key, runs);
    const end = () => {
      if (reads.get(key) === runs && runs.next === null) reads.delete(key);
    };
    current.then(end, end);
    return current;
  }

  /**
   * @param key says what is read; two reads with one key must have the same result
   * @param run reads it; called at once, or when the run under way has ended, for everyone who waits by then
   */
  return (key: string, run: () => Promise<T>): Promise<T> => {
    const runs = reads.get(key);
    if (runs === undefined) return start(key, run);
    if (runs.next !== null) noteJoined();
    runs.next ??= Promise.race([
      runs.current.catch(() => {}),
      delay(patienceMs, undefined, { ref: false }),
    ]).then(() => start(key, run));
    return runs.next;
  };
}
