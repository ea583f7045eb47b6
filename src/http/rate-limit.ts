import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, MemoryStore, type Options, type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { clientAddress } from './client-address.ts';
import type { ErrorReason } from './error-reasons.ts';
import { ApiError } from './errors.ts';
import { FallbackStore } from './rate-limit-store.ts';

/** Limits that count besides the general one, on the endpoints that name them. */
const extraLimitNames = [
  'failedSignIns',
  'failedCodes',
  'refusedPasswords',
  'signUps',
  'mailsToAddress',
  'mailsFromClient',
] as const;

export type ExtraLimit = (typeof extraLimitNames)[number];

/** Every limit, by the name that requests, Redis and metrics know it by. */
export const limitNames = ['general', 'refusedKeys', ...extraLimitNames] as const;

type LimitName = (typeof limitNames)[number];

declare module 'express-serve-static-core' {
  /** What each limit has counted of this request; absent where it did not. */
  interface Request extends Partial<Record<`${LimitName}Limit`, RateLimitInfo>> {}
}

/** How a request ended: failed is what says nothing about it, a failure behind the gateway or another limit. */
export type Outcome = 'done' | 'refused' | 'failed';

type ExtraLimiter = Readonly<{
  count: RequestHandler;
  /** Takes back what was counted of a request that ended so, where it does not count. */
  forgive: (req: Request, outcome: Outcome) => void;
}>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** IPv6 counts by /64: one device owns that many addresses. */
const addressOf = (req: Request) => `ip:${ipKeyGenerator(clientAddress(req), 64)}`;

/** Whom a request is counted on: its user, its API key, or the address of a caller without a valid credential. */
function payerOf(req: Request, { locals: { caller } }: Response): string {
  if (caller === null) return addressOf(req);
  return caller.via === 'jwt' ? `user:${caller.userId}` : `key:${caller.keyHash}`;
}

/** The session of a token, whichever of its tokens comes. */
function sessionOf(req: Request, res: Response): string {
  const { caller } = res.locals;
  const id = caller?.via === 'jwt' ? caller.claims.sessionId : undefined;
  return id === undefined ? payerOf(req, res) : `session:${id}`;
}

/** An account by its e-mail address, which is no business of Redis. */
function accountOf(req: Request): string {
  const email = String(req.body.email).trim().toLowerCase();
  return createHash('sha256').update(email).digest('hex');
}

type ExtraLimitOptions = Pick<Options, 'limit' | 'windowMs' | 'keyGenerator'> & {
  /** Requests that do not count in the end. */
  forgiven: readonly Outcome[];
  /** What the client is told that it has had too many of; attempts unless said. */
  reason?: ErrorReason;
};

const allButRefused: readonly Outcome[] = ['done', 'failed'];

const extraLimits = ({ signUpsPerHour }: Config['rateLimits']): Record<ExtraLimit, ExtraLimitOptions> => ({
  failedSignIns: {
    limit: 10,
    windowMs: minuteMs,
    keyGenerator: (req) => `${addressOf(req)}:${accountOf(req)}`,
    forgiven: allButRefused,
  },
  // Whatever addresses they come from: a code has as little as six digits.
  failedCodes: { limit: 10, windowMs: hourMs, keyGenerator: accountOf, forgiven: allButRefused },
  // A stolen session must not be enough to guess the current password, nor to keep its owner from changing it.
  refusedPasswords: { limit: 10, windowMs: hourMs, keyGenerator: sessionOf, forgiven: allButRefused },
  signUps: { limit: signUpsPerHour, windowMs: hourMs, keyGenerator: addressOf, forgiven: [] },
  // Nobody's mailbox is to be flooded. A client that tries again while Auth is away floods none.
  mailsToAddress: {
    limit: 5,
    windowMs: hourMs,
    keyGenerator: accountOf,
    forgiven: ['failed'],
    reason: 'limit_mails',
  },
  mailsFromClient: {
    limit: 30,
    windowMs: hourMs,
    keyGenerator: addressOf,
    forgiven: ['failed'],
    reason: 'limit_mails',
  },
});

/**
 * The limits of callers, as middleware.
 * @param redis shares what is counted between processes; without it, or while it cannot be reached, each counts alone
 */
export function createRateLimits({ rateLimits }: Config, redis: Redis | null, log: Logger) {
  const storeOf = (name: LimitName) =>
    redis === null ? new MemoryStore() : new FallbackStore(redis, name, log);

  /** A limiter that refuses with the error envelope. The X-RateLimit trio is for the general one to set. */
  const limiter = (name: LimitName, reason: ErrorReason, options: Partial<Options>): RequestHandler =>
    rateLimit({
      requestPropertyName: `${name}Limit`,
      standardHeaders: false,
      legacyHeaders: false,
      handler: (req, _res, next) => next(tooManyRequests(req[`${name}Limit`], reason)),
      ...options,
    });

  /**
   * A request counts while it is under way: guesses at the same time are guesses, too. `forgive` takes that back.
   * It does not wait for the response to finish, as the library's own skipSuccessfulRequests does, because the response
   * to a client that went away never will.
   */
  function extraLimiter(
    name: ExtraLimit,
    { forgiven, reason = 'limit_attempts', ...options }: ExtraLimitOptions,
  ): ExtraLimiter {
    const store = storeOf(name);
    const count = limiter(name, reason, { ...options, store });
    const forgive = (req: Request, outcome: Outcome) => {
      if (!forgiven.includes(outcome)) return;
      const { key, resetTime } = req[`${name}Limit`] ?? {};
      if (key && resetTime && resetTime.getTime() > Date.now()) void store.decrement(key);
    };
    return { count, forgive };
  }

  const limitOf = {
    jwt: rateLimits.userPerMinute,
    api_key: rateLimits.apiKeyPerMinute,
    none: rateLimits.anonymousPerMinute,
  };
  const generalStore = storeOf('general');
  const options = extraLimits(rateLimits);
  const extra = extraLimitNames.map((name) => [name, extraLimiter(name, options[name])] as const);

  return {
    /** Counts every request, and sets the X-RateLimit trio of the contract. */
    general: limiter('general', 'limit_requests', {
      keyGenerator: payerOf,
      windowMs: minuteMs,
      limit: (_req, { locals: { caller } }) => limitOf[caller?.via ?? 'none'],
      legacyHeaders: true,
      store: generalStore,
    }),

    refusedKeys: createRefusedKeys(storeOf('refusedKeys'), rateLimits.anonymousPerMinute),

    /** Those that an endpoint names in its declaration. */
    extra: Object.fromEntries(extra) as Record<ExtraLimit, ExtraLimiter>,

    /** Whether processes share what they count. */
    areShared: () => generalStore instanceof FallbackStore && generalStore.isShared,
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
        req.refusedKeysLimit = counted;
        // Where no endpoint asks the database, nobody knows whether the key is live.
        res.once('close', () => {
          if (res.locals.operation === undefined && res.statusCode !== 429) void store.increment(key);
        });
        if (counted.used > limit)
          Object.assign(res.locals, { caller: null, refusal: tooManyRequests(counted, 'limit_requests') });
      }
      next();
    }) satisfies RequestHandler,
    count: (req: Request) => void store.increment(addressOf(req)),
  };
}

function tooManyRequests(counted: RateLimitInfo | undefined, reason: ErrorReason) {
  const waitMs = (counted?.resetTime?.getTime() ?? 0) - Date.now();
  return new ApiError('rate_limited', 'Too many requests. Wait as many seconds as Retry-After says.', {
    reason,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}

export type RateLimits = ReturnType<typeof createRateLimits>;
