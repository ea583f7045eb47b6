import { setTimeout } from 'node:timers/promises';
import type { Options, RateLimitInfo } from 'express-rate-limit';
import type { ErrorReason } from '../error-reasons.ts';
import { ApiError } from '../errors.ts';
import type { FallbackStore, LocalStore } from './rate-limit-store.ts';

/** For how long a request waits for those under way that take up its limit, in milliseconds: the longest that Auth takes. */
const patienceMs = 10_000;

/** How often it looks, in milliseconds: often at first, as most are done soon. */
const firstPauseMs = 25;
const longestPauseMs = 200;

/** What a limit has counted of a request. It is over the limit when more are used than that. */
export type Attempt = Readonly<RateLimitInfo & { key: string; isUnderWay: boolean }>;

/**
 * A limit of attempts that do not all count in the end. One counts while it is under way, so that no more than the limit
 * ever fail. Whoever comes while attempts whose end is not known yet take up the limit waits for them: only those that have
 * counted for good refuse anybody.
 * @param store holds the attempts under each key, and beside it those of them that count for good
 */
export function createAttemptLimit(
  store: LocalStore | FallbackStore,
  { limit, windowMs }: Readonly<{ limit: number; windowMs: number }>,
) {
  store.init({ windowMs } as Options); // stores read no other option
  const settled = (key: string) => `${key}:settled`;

  /** How many attempts have counted for good. */
  async function countedAt(key: string) {
    const { totalHits = 0, resetTime } = (await store.get(settled(key))) ?? {};
    return resetTime && resetTime.getTime() > Date.now() ? totalHits : 0;
  }

  function attempt(key: string, used: number, resetTime: Date | undefined, isUnderWay: boolean): Attempt {
    return { key, limit, used, remaining: Math.max(0, limit - used), resetTime, isUnderWay };
  }

  return {
    /**
     * Counts an attempt, unless it is over the limit.
     * @param isExempt is asked before each try: whether the attempt need not be counted, only refused with the others
     */
    async begin(key: string, isExempt = () => false): Promise<Attempt> {
      const giveUpAt = performance.now() + patienceMs;
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        if (isExempt()) {
          const { resetTime } = (await store.get(key)) ?? {};
          return attempt(key, (await countedAt(key)) + 1, resetTime, false);
        }
        const { totalHits: used, resetTime } = await store.increment(key);
        if (used === 1) await store.resetKey(settled(key)); // what it held was of a window before
        if (used <= limit) return attempt(key, used, resetTime, true);
        await store.decrement(key);
        if ((await countedAt(key)) >= limit || performance.now() + pauseMs > giveUpAt)
          return attempt(key, used, resetTime, false);
        await setTimeout(pauseMs);
      }
    },

    /** Ends an attempt that was let through. @param counts whether it is one of those that the limit is about */
    async end({ key, resetTime, isUnderWay }: Attempt, counts: boolean): Promise<void> {
      if (!isUnderWay) return;
      if (counts) await store.increment(settled(key));
      else if (resetTime && resetTime.getTime() > Date.now()) await store.decrement(key);
    },

    /** Counts for good what was not counted while it was under way. */
    async count(key: string): Promise<void> {
      await store.increment(key);
      await store.increment(settled(key));
    },
  };
}

export type AttemptLimit = ReturnType<typeof createAttemptLimit>;

/** The 429 of a limit. @param counted tells when to come back */
export function tooManyRequests(counted: RateLimitInfo | undefined, reason: ErrorReason) {
  const waitMs = (counted?.resetTime?.getTime() ?? 0) - Date.now();
  return new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}
