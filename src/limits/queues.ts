import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import { tooManyRequests } from './too-many-requests.ts';

/** Nobody waits longer for their turn, in milliseconds: 3 of the 11 s that a request to Auth has are left for the call. */
const longestWaitMs = 8_000;

/** A call that waits in queues, until it starts. It leaves them when it has waited too long or its client goes away. */
export class Turn {
  readonly giveUpAt = performance.now() + longestWaitMs;
  readonly #leaving = new AbortController();
  readonly #timer = setTimeout(() => this.leave(), longestWaitMs);
  #hasStarted = false;

  /** Aborts when the call leaves; the reason is the ApiError that tells the client. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Does nothing once the call has started. @param waitMs when to come back, in milliseconds */
  leave(waitMs = 0) {
    clearTimeout(this.#timer);
    if (!this.#hasStarted) this.#leaving.abort(tooManyRequests(waitMs, 'limit_requests'));
  }

  /** @throws ApiError rate_limited when the call has left */
  start() {
    this.signal.throwIfAborted();
    clearTimeout(this.#timer);
    this.#hasStarted = true;
  }
}

/** How fast the estimate of the time that a call takes follows the calls. */
const weightOfLast = 1 / 8;

/**
 * A queue in which so many calls run at once and the others wait in order.
 * @returns adds a call; throws ApiError rate_limited as soon as it shows that the call would not start in time
 */
export function createQueue(concurrency: number) {
  const queue = new PQueue({ concurrency });
  const waiting = new Set<Turn>(); // in their order
  let typicalMs = 0;

  /** Those who would not start in time leave now. */
  function dismissLate() {
    let ahead = 0;
    for (const turn of waiting) {
      const waitMs = (++ahead / concurrency) * typicalMs;
      if (performance.now() + waitMs > turn.giveUpAt) {
        waiting.delete(turn);
        turn.leave(waitMs);
      }
    }
  }

  async function run<T>(turn: Turn, call: () => Promise<T>): Promise<T> {
    waiting.delete(turn);
    const startedAt = performance.now();
    try {
      return await call();
    } finally {
      const tookMs = performance.now() - startedAt;
      typicalMs += (tookMs - typicalMs) * (typicalMs === 0 ? 1 : weightOfLast);
      dismissLate();
    }
  }

  return async <T>(turn: Turn, call: () => Promise<T>): Promise<T> => {
    waiting.add(turn);
    const inItsContext = AsyncLocalStorage.bind(() => run(turn, call)); // the queue runs it in that of the call before
    try {
      const result = queue.add(inItsContext, { signal: turn.signal });
      dismissLate();
      return await result;
    } finally {
      waiting.delete(turn);
    }
  };
}

/** A queue for each key. */
export function createQueues(concurrency: number) {
  const queues = new Map<string, { add: ReturnType<typeof createQueue>; calls: number }>();

  return async <T>(key: string, turn: Turn, call: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { add: createQueue(concurrency), calls: 0 };
    queues.set(key, queue);
    queue.calls++;
    try {
      return await queue.add(turn, call);
    } finally {
      if (--queue.calls === 0) queues.delete(key);
    }
  };
}
