import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How many runs of a read may be under way, evenly spaced: answering those of one goes on while the others are read.
 * Each more than these brings little, and is a load on a database that is slow already.
 */
const runsAtOnce = 4;

/** How long a run may hold up the next one, in milliseconds: one that hangs must not stop everybody who comes after. */
const longestPatienceMs = 250;

/** How many of those who share a run are answered before the event loop turns to others. */
const answersPerTurn = 8;

/** A run, and those who wait for it. */
class Run<T> {
  readonly #result: Promise<T>;
  #waiting = 0;
  #turn: Promise<unknown>;

  constructor(result: Promise<T>) {
    this.#result = result;
    this.#turn = result.catch(() => {});
  }

  async join(): Promise<T> {
    if (this.#waiting > 0 && this.#waiting % answersPerTurn === 0)
      this.#turn = this.#turn.then(() => nextTurn());
    this.#waiting++;
    await this.#turn;
    return this.#result;
  }
}

/** `startedMs`: when its latest run did. `lastMs`: how long the last one to end took. */
type Read<T> = { next: Run<T> | null; underWay: Set<Promise<void>>; startedMs: number; lastMs: number };

/**
 * Answers identical reads that are asked for at the same time by one run, without ever being stale: whoever asks while
 * a run is under way gets the result of the next one, which starts after they asked. Nothing is kept afterwards, and a
 * failure reaches everyone who waits for the run that failed.
 *
 * The next run starts when one has ended, or a quarter of the time that one takes after the latest.
 * @param noteJoined called for each read that is answered by a run which somebody else asked for
 */
export function createCollapser<T>(noteJoined: () => void = () => {}) {
  const reads = new Map<string, Read<T>>();

  async function startNext(key: string, read: Read<T>, run: () => Promise<T>): Promise<T> {
    await nextTurn(); // those who ask in the same turn share the run
    const sinceLatestMs = performance.now() - read.startedMs;
    const patienceMs =
      read.underWay.size >= runsAtOnce
        ? longestPatienceMs
        : Math.min(read.lastMs / runsAtOnce - sinceLatestMs, longestPatienceMs);
    if (read.underWay.size > 0 && patienceMs > 0)
      await Promise.race([...read.underWay, delay(patienceMs, undefined, { ref: false })]);
    read.next = null;
    const startedMs = performance.now();
    read.startedMs = startedMs;
    const result = run();
    const end = () => {
      read.lastMs = performance.now() - startedMs;
      read.underWay.delete(ended);
      if (read.underWay.size === 0 && read.next === null) reads.delete(key);
    };
    const ended = result.then(end, end);
    read.underWay.add(ended);
    return result;
  }

  /**
   * @param key says what is read; two reads with one key must have the same result
   * @param run reads it; called once for everyone who waits by then
   */
  return (key: string, run: () => Promise<T>): Promise<T> => {
    let read = reads.get(key);
    if (read === undefined) {
      read = { next: null, underWay: new Set(), startedMs: 0, lastMs: Number.POSITIVE_INFINITY };
      reads.set(key, read);
    }
    if (read.next !== null) noteJoined();
    read.next ??= new Run(startNext(key, read, run));
    return read.next.join();
  };
}
