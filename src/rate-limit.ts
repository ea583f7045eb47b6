import { createHash } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, type Options, rateLimit } from 'express-rate-limit';
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

/** Which limits besides the general one an endpoint counts on. */
export type ExtraLimit = 'failedSignIns' | 'signUps';

/** IPv6 counts by /64: one device owns that many addresses. */
const addressOf = (req: Request) => `ip:${ipKeyGenerator(req.ip ?? '', 64)}`;

/**
 * The budgets of callers. Each handler counts the request and fails it with rate_limited when the budget is used up.
 * @param redis shares the budgets between processes; without it, or while it cannot be reached, each has its own
 */
export function createRateLimits(
  { rateLimits }: Config,
  redis: Redis | null,
  log: Logger,
  metrics: Metrics | null,
) {
  const callers = new WeakMap<Request, Caller>();
  // Only to choose the bucket: whether a key is live is asked anew with every query.
  const provenKeys = new LRUCache<string, true>({ max: 10_000, ttl: 10 * minuteMs });

  const storeOf = (name: string) => redis && new SharedStore(redis, name, log);

  function limiter(
    store: SharedStore | null,
    bucketOf: (req: Request) => Bucket,
    options: Partial<Options>,
  ): RequestHandler {
    const limit = rateLimit({
      ...(store && { store }),
      legacyHeaders: false,
      standardHeaders: false,
      handler: (req, _res, next) => {
        const resetMs =
          (req as Request & { rateLimit: { resetTime?: Date } }).rateLimit.resetTime?.getTime() ?? 0;
        next(
          new ApiError('rate_limited', 'Too many requests. Wait for the seconds that Retry-After names.', {
            headers: { 'Retry-After': String(Math.max(1, Math.ceil((resetMs - Date.now()) / 1000))) },
          }),
        );
      },
      // Its start-up advice assumes one fixed deployment; ours comes from the configuration.
      validate: false,
      ...options,
    });
    if (metrics === null) return limit;
    return (req, res, next) =>
      limit(req, res, (error: unknown) => {
        metrics.rateLimitDecided(bucketOf(req), error !== undefined);
        next(error);
      });
  }

  const generalStore = storeOf('general');
  if (generalStore) metrics?.watchSharing(() => generalStore.isShared);
  const general = limiter(generalStore, (req) => bucketOfCaller[callers.get(req)?.via ?? 'none'], {
    windowMs: minuteMs,
    limit: (req) => {
      const via = callers.get(req)?.via;
      if (via === undefined) return rateLimits.anonymousPerMinute;
      return via === 'jwt' ? rateLimits.userPerMinute : rateLimits.apiKeyPerMinute;
    },
    keyGenerator: (req) => {
      const caller = callers.get(req);
      if (caller === undefined) return addressOf(req);
      return caller.via === 'jwt' ? `user:${caller.userId}` : `key:${caller.keyHash}`;
    },
    legacyHeaders: true, // the X-RateLimit trio of the contract
  });

  const extra: Record<ExtraLimit, RequestHandler> = {
    failedSignIns: limiter(storeOf('sign-in'), () => 'sign_in', {
      windowMs: minuteMs,
      limit: failedSignInsPerMinute,
      skipSuccessfulRequests: true,
      requestWasSuccessful: (_req, res) => res.statusCode !== 401,
      keyGenerator: (req) => {
        const email = String(req.body.email).trim().toLowerCase();
        return `${addressOf(req)}:${createHash('sha256').update(email).digest('hex')}`;
      },
    }),
    signUps: limiter(storeOf('sign-up'), () => 'sign_up', {
      windowMs: hourMs,
      limit: rateLimits.signUpsPerHour,
      keyGenerator: addressOf,
    }),
  };

  return {
    general,
    extra,
    /**
     * Makes the request count on its caller's budget instead of its address'. A key counts on the address until it
     * has proved valid once: keys with a right checksum are free to make, and each would have a budget of its own.
     */
    countAgainst(req: Request, caller: Caller) {
      if (caller.via === 'jwt' || provenKeys.has(caller.keyHash)) callers.set(req, caller);
    },
    /** Notes that the database accepted or refused the key of a caller. */
    noteKey(caller: Caller | null, accepted: boolean) {
      if (caller?.via !== 'api_key') return;
      if (accepted) provenKeys.set(caller.keyHash, true);
      else provenKeys.delete(caller.keyHash);
    },
  };
}

const bucketOfCaller = { jwt: 'user', api_key: 'api_key', none: 'address' } as const;

export type RateLimits = ReturnType<typeof createRateLimits>;
