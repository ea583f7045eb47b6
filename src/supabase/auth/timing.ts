import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { PasswordQueue } from '../../limits/password-queue.ts';
import { AuthError } from './call.ts';

/** The least that an answer takes that must not tell by its time whether there is an account, in milliseconds. */
const leastMs = 500;

export const minimumDelay = (delayMs = leastMs) => setTimeout(delayMs);

/**
 * Auth hashes a password for addresses with an account, and for others it does not. So no answer comes sooner than a hash takes
 * here and now: the 95th percentile of the last minute, counted from when Auth is called. The time in the queue is the same for
 * everybody.
 */
export function createCallWithMinimumDelay(inPasswordQueue: PasswordQueue) {
  /** What the calls of the last minute took. Rejections without a hash are quick; left out, they cannot lower the percentile. */
  const completed = new LRUCache<symbol, number>({ max: 1_000, ttl: 60_000 });

  function record(tookMs: number, isRejected: boolean) {
    if (!isRejected || tookMs > leastMs) completed.set(Symbol(), tookMs);
  }

  function percentileMs(): number {
    const sorted = [...completed.values()].sort((a, b) => a - b);
    return Math.max(leastMs, sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0);
  }

  /** Makes a call in the queue. @returns its answer, and what resolves when the minimum delay is over */
  return <T>(caller: Parameters<PasswordQueue>[0], call: () => Promise<T>) => {
    const begun = Promise.withResolvers<number>();
    const answer = inPasswordQueue(caller, async () => {
      const startedAt = performance.now();
      begun.resolve(percentileMs());
      try {
        const result = await call();
        record(performance.now() - startedAt, false);
        return result;
      } catch (error) {
        if (error instanceof AuthError) record(performance.now() - startedAt, true);
        throw error;
      }
    });
    return { answer, due: begun.promise.then(minimumDelay) };
  };
}

export type CallWithMinimumDelay = ReturnType<typeof createCallWithMinimumDelay>;
