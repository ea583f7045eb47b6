import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, MemoryStore, type Options, type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { ApiError } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { FallbackStore } from './rate-limit-store.ts';

declare module 'express-serve-static-core' {
  /** What each limiter has counted of this request; absent where it did not. */
  interface Request {
    rateLimit?: RateLimitInfo;
    refusedKeyLimit?: RateLimitInfo;
    signInLimit?: RateLimitInfo;
    signUpLimit?: RateLimitInfo;
    mailsToAddressLimit?: RateLimitInfo;
    mailsFromClientLimit?: RateLimitInfo;
    codeLimit?: RateLimitInfo;
  }
}

type LimitName = keyof Request & `${string}Limit`;

/** Limits that count besides the general one, on the endpoints that name them. */
export type ExtraLimit = 'failedSignIns' | 'signUps' | 'mailsToAddress' | 'mailsFromClient' | 'failedCodes';

type ExtraLimiter = Readonly<{
  count: RequestHandler;
  /** Takes back what was counted of a request that Auth did not refuse; absent where every request counts. */
  forgive?: (req: Request) => void;
}>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Failed sign-ins a minute from one address for one account; guessing beyond that is slower than giving up. */
const failedSignInsPerMinute = 10;

/** Failed codes an hour for one account, whatever address they come from: a code has as little as six digits. */
const failedCodesPerHour = 10;

/** Mails with a code an hour, to one e-mail address and for one client: nobody's mailbox is to be flooded. */
const mailsPerHour = { toAddress: 5, fromClient: 30 };

/** IPv6 counts by /64: one device owns that many addresses. */
const addressOf = (req: Request) => `ip:${ipKeyGenerator(req.ip ?? '', 64)}`;

/** Whom a request is counted on: its user, its API key, or the address of a caller without a valid credential. */
function payerOf(req: Request, { locals: { caller } }: Response): string {
  if (caller === null) return addressOf(req);
  return caller.via === 'jwt' ? `user:${caller.userId}` : `key:${caller.keyHash}`;
}

/** An account by its e-mail address, which is no business of Redis. */
function accountOf(req: Request): string {
  const email = String(req.body.email).trim().toLowerCase();
  return createHash('sha256').update(email).digest('hex');
}

/**
 * The limits of callers, as middleware.
 * @param redis shares what is counted between processes; without it, or while it cannot be reached, each counts alone
 */
export function createRateLimits(
  { rateLimits }: Config,
  redis: Redis | null,
  log: Logger,
  metrics: Metrics | null,
) {
  function storeOf(name: LimitName) {
    if (redis === null) return new MemoryStore();
    const store = new FallbackStore(redis, name, log);
    if (name === 'rateLimit') metrics?.watchSharing(() => store.isShared);
    return store;
  }

  /** A limiter that refuses with the error envelope. The X-RateLimit trio is for the general one to set. */
  function limiter(name: LimitName, options: Partial<Options>): RequestHandler {
    return rateLimit({
      requestPropertyName: name,
      windowMs: minuteMs,
      standardHeaders: false,
      legacyHeaders: false,
      handler: (req, _res, next) => next(tooManyRequests(req[name])),
      ...options,
      store: options.store ?? storeOf(name),
    });
  }

  /**
   * A limiter of what Auth refuses. While a request is under way it counts: guesses at the same time are guesses, too.
   * `forgive` takes that back. It does not wait for the response to finish, as the library's own skipSuccessfulRequests
   * does, because the response to a client that went away never will.
   */
  function failureLimiter(name: LimitName, options: Partial<Options>): ExtraLimiter {
    const store = storeOf(name);
    return {
      count: limiter(name, { ...options, store }),
      forgive: (req) => {
        const counted = req[name];
        if (counted?.resetTime && counted.resetTime.getTime() > Date.now()) void store.decrement(counted.key);
      },
    };
  }

  const limitOf = {
    jwt: rateLimits.userPerMinute,
    api_key: rateLimits.apiKeyPerMinute,
    none: rateLimits.anonymousPerMinute,
  };

  const extra: Record<ExtraLimit, ExtraLimiter> = {
    failedSignIns: failureLimiter('signInLimit', {
      keyGenerator: (req) => `${addressOf(req)}:${accountOf(req)}`,
      limit: failedSignInsPerMinute,
    }),
    signUps: {
      count: limiter('signUpLimit', {
        keyGenerator: addressOf,
        limit: rateLimits.signUpsPerHour,
        windowMs: hourMs,
      }),
    },
    mailsToAddress: {
      count: limiter('mailsToAddressLimit', {
        keyGenerator: accountOf,
        limit: mailsPerHour.toAddress,
        windowMs: hourMs,
      }),
    },
    mailsFromClient: {
      count: limiter('mailsFromClientLimit', {
        keyGenerator: addressOf,
        limit: mailsPerHour.fromClient,
        windowMs: hourMs,
      }),
    },
    failedCodes: failureLimiter('codeLimit', {
      keyGenerator: accountOf,
      limit: failedCodesPerHour,
      windowMs: hourMs,
    }),
  };

  return {
    /** Counts every request, and sets the X-RateLimit trio of the contract. */
    general: limiter('rateLimit', {
      keyGenerator: payerOf,
      limit: (_req, { locals: { caller } }) => limitOf[caller?.via ?? 'none'],
      legacyHeaders: true,
    }),

    refusedKeys: createRefusedKeys(storeOf('refusedKeyLimit'), rateLimits.anonymousPerMinute),

    /** Those that an endpoint names in its declaration. */
    extra,
  };
}

/**
 * The limit of API keys of an address that were refused: keys with a right checksum are free to make, and each would have a
 * budget of its own. Unlike the other limits it counts afterwards, so that good keys never count, however many requests are
 * in flight and whatever their clients do. Past it, no key of the address is believed any more.
 */
function createRefusedKeys(store: FallbackStore | MemoryStore, limit: number) {
  store.init({ windowMs: minuteMs } as Options); // rateLimit does that for the others; stores read no other option
  return {
    check: (async (req, res, next) => {
      if (res.locals.caller?.via === 'api_key') {
        const key = addressOf(req);
        const { totalHits = 0, resetTime } = (await store.get(key)) ?? {};
        const counted = {
          limit,
          used: totalHits + 1,
          remaining: Math.max(0, limit - totalHits),
          resetTime,
          key,
        };
        req.refusedKeyLimit = counted;
        // Where no endpoint asks the database, nobody knows whether the key is live.
        res.once('close', () => {
          if (res.locals.operation === undefined && res.statusCode !== 429) void store.increment(key);
        });
        if (counted.used > limit)
          Object.assign(res.locals, { caller: null, refusal: tooManyRequests(counted) });
      }
      next();
    }) satisfies RequestHandler,
    count: (req: Request) => void store.increment(addressOf(req)),
  };
}

function tooManyRequests(counted: RateLimitInfo | undefined) {
  const waitMs = (counted?.resetTime?.getTime() ?? 0) - Date.now();
  return new ApiError('rate_limited', 'Too many requests. Wait for the seconds that Retry-After names.', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}

export type RateLimits = ReturnType<typeof createRateLimits>;
