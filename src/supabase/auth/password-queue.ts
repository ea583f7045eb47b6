import { AsyncLocalStorage } from 'node:async_hooks';
import PQueue from 'p-queue';
import { tooManyRequests } from '../../errors.ts';
import { clientKey, networkKey } from '../../shared/address-keys.ts';
import { withNewDeadlines } from '../../shared/request-context.ts';

const longestWaitMs = 4_000;

/** Wait after which the queue counts as full, because the next call would probably wait for too long. */
const longWaitMs = 3_000;

/** Returns the 429 for a call that the queue does not take. */
export const queueFull = () => tooManyRequests(3_000, 'limit_requests', 'passwordQueue');

const keysOf = (ip: string) => [clientKey(ip), networkKey(ip)];

/**
 * Creates a number of places for calls that run or wait, of which each client and network gets only some.
 * @returns `take` takes a place, and returns the function that frees it, or undefined if no place is free
 */
function createPlaces(count: { total: number; perKey: number }) {
  const taken: string[][] = [];
  const takenBy = (key: string) => taken.filter((keys) => keys.includes(key)).length;
  const areTaken = (keys: string[]) => taken.length >= count.total || keys.some((key) => takenBy(key) >= count.perKey);
  return {
    areTaken,
    take(keys: string[]) {
      if (areTaken(keys)) return undefined;
      taken.push(keys);
      return () => taken.splice(taken.indexOf(keys), 1);
    },
  };
}

/**
 * Priorities of calls that start before others and have reserved places, so that other clients cannot lock out their
 * account. Trusted clients are first, because anyone with accounts can send many password changes.
 */
export const priorities = { passwordChange: 1, trustedSignIn: 2 } as const;

interface QueueOptions {
  /** One of `priorities`. Default: 0, without a reserved place. */
  priority?: 0 | (typeof priorities)[keyof typeof priorities];
  /** Cancels the call unless it has started. */
  gone?: AbortSignal;
}

/**
 * Creates the queue of calls that hash a password, because Auth serves few of them at a time and gives up after 10 s.
 * A call holds a place while it waits and while it runs.
 * @param callsAtOnce number n of calls that run at a time. There are 8n places, 2n of them for one client or network,
 *   and for each priority 8n reserved ones, n/4 (rounded up) of them for one client or network, which leaves the others
 *   some of the n calls
 */
export function createPasswordQueue(callsAtOnce: number) {
  const { passwordChange, trustedSignIn } = priorities;
  const queue = new PQueue({ concurrency: callsAtOnce });
  const total = 8 * callsAtOnce;
  const places = createPlaces({ total, perKey: total / 4 });
  const createReserved = () => createPlaces({ total, perKey: Math.ceil(callsAtOnce / 4) });
  const reservedPlaces = { 0: undefined, [passwordChange]: createReserved(), [trustedSignIn]: createReserved() };
  /** Wait of the last call without a reserved place that started, or was rejected after its wait. */
  let lastWaitMs = 0;

  return {
    /** Tells whether a call of this client would be rejected, or would wait for long. */
    isFullFor: (ip: string) => places.areTaken(keysOf(ip)) || (queue.size > 0 && lastWaitMs >= longWaitMs),

    /** Makes a call when fewer than n run, with a new deadline. @throws queueFull at once, or after a wait of 4 s */
    async inPasswordQueue<T>(ip: string, call: () => Promise<T>, options: QueueOptions = {}): Promise<T> {
      const { priority = 0, gone } = options;
      if (gone?.aborted) throw queueFull(); // first, so that it takes no place
      const keys = keysOf(ip);
      const freeReserved = reservedPlaces[priority]?.take(keys);
      const free = freeReserved ?? places.take(keys); // without a reserved place, the call waits like all others
      if (free === undefined) throw queueFull();

      const enqueuedAt = performance.now();
      const leaving = new AbortController();
      const leave = () => leaving.abort(queueFull());
      const recordWait = () => {
        if (!freeReserved) lastWaitMs = performance.now() - enqueuedAt;
      };
      const timer = setTimeout(() => {
        recordWait(); // otherwise the queue would not count as full while only calls with reserved places start
        leave();
      }, longestWaitMs);
      gone?.addEventListener('abort', leave);
      const endWait = () => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', leave);
      };
      const inContext = AsyncLocalStorage.snapshot(); // p-queue would use the context of another call
      const start = () => {
        endWait();
        recordWait();
        return inContext(() => withNewDeadlines(call));
      };
      try {
        return await queue.add(start, { signal: leaving.signal, priority: freeReserved ? priority : 0 });
      } finally {
        endWait();
        free();
      }
    },
  };
}

/** Makes a call in the queue of the calls that hash a password. */
export type InPasswordQueue = ReturnType<typeof createPasswordQueue>['inPasswordQueue'];
