import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { type ClientRateLimitInfo, ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Caller } from './caller.ts';
import type { Config } from './config.ts';
import { ApiError } from './errors.ts';
import type { Bucket, Metrics } from './metrics.ts';
import { SharedStore } from './rate-limit-store.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Failed sign-ins a minute from one address for one account; guessing beyond that is slower than giving up. */
const failedSignInsPerMinute = 10;

/** Counts a request. @throws ApiError rate_limited when its budget is used up. */
type Limit = (req: Request, res: Response) => Promise<void>;

/** Which limits besides the general one an endpoint counts on. */
export type ExtraLimit = 'failedSignIns' | 'signUps';

/** IPv6 counts by /64: one device owns that many addresses. */
const addressOf = (req: Request) => `ip:${ipKeyGenerator(req.ip ?? '', 64)}`;

/**
 * The budgets of callers.
 * @param redis shares the budgets between processes; without it, or while it cannot be reached, each has its own
 */
export function createRateLimits(
  { rateLimits }: Config,
  redis: Redis | null,
  log: Logger,
  metrics: Metrics | null,
) {
  // Only to choose the budget: whether a key is live is asked anew with every query.
  const provenKeys = new LRUCache<string, true>({ max: 10_000, ttl: 10 * minuteMs });

  /**
   * On whose budget a request counts; null for that of its address. A key has one of its own when it has proved valid
   * once: keys with a right checksum are free to make.
   */
  function payerOf({ locals: { caller } }: Response): Caller | null {
    if (!caller) return null;
    return caller.via === 'jwt' || provenKeys.has(caller.keyHash) ? caller : null;
  }

  const budgetOf = {
    jwt: { bucket: 'user', limit: rateLimits.userPerMinute },
    api_key: { bucket: 'api_key', limit: rateLimits.apiKeyPerMinute },
    none: { bucket: 'address', limit: rateLimits.anonymousPerMinute },
  } as const;

  const storeOf = (name: string, windowMs: number) => {
    const options = { windowMs } as Options; // stores read no other one
    if (redis) return new SharedStore(redis, name, options, log);
    const store = new MemoryStore();
    store.init(options);
    return store;
  };
  const requests = storeOf('general', minuteMs);
  if (requests instanceof SharedStore) metrics?.watchSharing(() => requests.isShared);
  const signIns = storeOf('sign-in', minuteMs);
  const signUps = storeOf('sign-up', hourMs);

  /** @throws ApiError rate_limited when it was one request too many. */
  function decide(bucket: Bucket, limit: number, { totalHits, resetTime }: ClientRateLimitInfo) {
    const limited = totalHits > limit;
    metrics?.rateLimitDecided(bucket, limited);
    if (!limited) return;
    const waitMs = (resetTime?.getTime() ?? 0) - Date.now();
    throw new ApiError('rate_limited', 'Too many requests. Wait for the seconds that Retry-After names.', {
      headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    });
  }

  /** Counts every request, and notes what the X-RateLimit trio of the contract says. */
  const general: Limit = async (req, res) => {
    const payer = payerOf(res);
    const { bucket, limit } = budgetOf[payer?.via ?? 'none'];
    const info = await requests.increment(payer === null ? addressOf(req) : keyOf(payer));
    res.locals.budget = {
      limit,
      remaining: Math.max(0, limit - info.totalHits),
      resetSeconds: Math.ceil((info.resetTime?.getTime() ?? 0) / 1000),
    };
    decide(bucket, limit, info);
  };

  const extra: Record<ExtraLimit, Limit> = {
    /** Only failures count in the end, but while they are under way all do: guesses at the same time are guesses, too. */
    failedSignIns: async (req, res) => {
      const email = String(req.body.email).trim().toLowerCase();
      const key = `${addressOf(req)}:${createHash('sha256').update(email).digest('hex')}`;
      const info = await signIns.increment(key);
      res.once('finish', () => {
        if (res.statusCode !== 401) void signIns.decrement(key); // neither store fails
      });
      decide('sign_in', failedSignInsPerMinute, info);
    },
    signUps: async (req) =>
      decide('sign_up', rateLimits.signUpsPerHour, await signUps.increment(addressOf(req))),
  };

  return {
    general,
    extra,
    /** Notes that the database accepted or refused the key of a caller. */
    noteKey(caller: Caller | null, accepted: boolean) {
      if (caller?.via !== 'api_key') return;
      if (accepted) provenKeys.set(caller.keyHash, true);
      else provenKeys.delete(caller.keyHash);
    },
  };
}

const keyOf = (caller: Caller) => (caller.via === 'jwt' ? `user:${caller.userId}` : `key:${caller.keyHash}`);

export type RateLimits = ReturnType<typeof createRateLimits>;
