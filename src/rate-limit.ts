import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import type { Caller } from './caller.ts';
import type { Config } from './config.ts';
import { ApiError } from './errors.ts';

const windowMs = 60_000;

const callers = new WeakMap<Request, Caller>();

/** Notes whose budget the request counts on; without it, it counts on the budget of its address. */
export function countAgainst(req: Request, caller: Caller) {
  callers.set(req, caller);
}

/**
 * One budget a minute for each user, and one for each address that calls without a valid token: IPv6 by /64, as
 * one device owns that many. Sets the X-RateLimit headers; the next request over the budget gets rate_limited.
 */
export function createRateLimit({ rateLimits }: Config): RequestHandler {
  return rateLimit({
    windowMs,
    limit: (req) => (callers.has(req) ? rateLimits.userPerMinute : rateLimits.anonymousPerMinute),
    keyGenerator: (req) => {
      const caller = callers.get(req);
      return caller ? `user:${caller.userId}` : `ip:${ipKeyGenerator(req.ip ?? '', 64)}`;
    },
    legacyHeaders: true, // the X-RateLimit trio of the contract
    standardHeaders: false,
    handler: (_req, _res, next) => {
      next(new ApiError('rate_limited', 'Too many requests. Try again after the time in X-RateLimit-Reset.'));
    },
    // Its start-up advice assumes one fixed deployment; ours comes from the configuration.
    validate: false,
  });
}
