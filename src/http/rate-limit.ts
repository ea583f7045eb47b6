import type { Request, RequestHandler, Response } from 'express';
import { type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type Attempt, createAttemptLimit, tooManyRequests } from './attempt-limit.ts';
import { addressOf, type ExtraLimit, extraLimitNames, extraLimits, type Outcome } from './extra-limits.ts';
import { FallbackStore, LocalStore } from './rate-limit-store.ts';
import { createRefusedKeys } from './refused-keys.ts';

/** Every limit, by the name that requests, Redis and metrics know it by. */
export const limitNames = ['general', 'refusedKeys', ...extraLimitNames] as const;

type LimitName = (typeof limitNames)[number];

declare module 'express-serve-static-core' {
  /** What each limit has counted of this request; absent where it did not. */
  interface Request extends Partial<Record<`${LimitName}Limit`, RateLimitInfo>> {}
}

const minuteMs = 60_000;

/** Whom a request is counted on: its user, its API key, or the address of a caller without a valid credential. */
function payerOf(req: Request, { locals: { caller } }: Response): string {
  if (caller === null) return addressOf(req);
  return caller.via === 'jwt' ? `user:${caller.userId}` : `key:${caller.keyHash}`;
}

/**
 * The limits of callers.
 * @param redis shares what is counted between processes; without it, or while it cannot be reached, each counts alone
 */
export function createRateLimits({ rateLimits }: Config, redis: Redis | null, log: Logger) {
  const storeOf = (name: LimitName) =>
    redis === null ? new LocalStore() : new FallbackStore(redis, name, log);
  const limitOf = {
    jwt: rateLimits.userPerMinute,
    api_key: rateLimits.apiKeyPerMinute,
    none: rateLimits.anonymousPerMinute,
  };
  const generalStore = storeOf('general');
  const refusedKeys = { limit: rateLimits.anonymousPerMinute, windowMs: minuteMs };
  const options = extraLimits(rateLimits);
  const extra = Object.fromEntries(
    extraLimitNames.map((name) => [name, createAttemptLimit(storeOf(name), options[name])]),
  ) as Record<ExtraLimit, ReturnType<typeof createAttemptLimit>>;

  return {
    /** Counts every request, sets the X-RateLimit trio of the contract, and refuses with the error envelope. */
    general: rateLimit({
      keyGenerator: payerOf,
      windowMs: minuteMs,
      limit: (_req, { locals: { caller } }) => limitOf[caller?.via ?? 'none'],
      requestPropertyName: 'generalLimit',
      standardHeaders: false,
      legacyHeaders: true,
      handler: (req, _res, next) => next(tooManyRequests(req.generalLimit, 'limit_requests')),
      store: generalStore,
    }) satisfies RequestHandler,

    refusedKeys: createRefusedKeys(createAttemptLimit(storeOf('refusedKeys'), refusedKeys)),

    /**
     * Begins an attempt under each of these limits.
     * @returns what ends them all, to be called once with the outcome, and with limits that do not apply after all
     * @throws ApiError rate_limited; then none of them counts the request
     */
    async begin(names: readonly ExtraLimit[], req: Request, res: Response) {
      const begun: [ExtraLimit, Attempt][] = [];
      const end = (counts: (name: ExtraLimit) => boolean) => {
        for (const [name, attempt] of begun) void extra[name].end(attempt, counts(name));
      };
      for (const name of names) {
        const { keyOf, reason = 'limit_attempts' } = options[name];
        const attempt = await extra[name].begin(keyOf(req, res));
        req[`${name}Limit`] = attempt;
        if (attempt.used > attempt.limit) {
          end(() => false);
          throw tooManyRequests(attempt, reason);
        }
        begun.push([name, attempt]);
      }
      return (outcome: Outcome, forgiven: ReadonlySet<ExtraLimit>) =>
        end((name) => !forgiven.has(name) && options[name].counts(outcome));
    },

    /** Whether processes share what they count. */
    areShared: () => generalStore instanceof FallbackStore && generalStore.isShared,
  };
}

export type RateLimits = ReturnType<typeof createRateLimits>;
