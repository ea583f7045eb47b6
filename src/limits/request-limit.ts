import type { Request, Response } from 'express';
import { ipKeyGenerator, type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Config } from '../config.ts';
import { apiBase } from '../endpoint.ts';
import { clientAddress } from '../http/client-address.ts';
import type { SharedRedis } from '../redis.ts';
import { LimitStore } from './store.ts';
import { tooManyRequests } from './too-many-requests.ts';

declare module 'express-serve-static-core' {
  interface Request {
    /** What the request limit has counted of this caller; absent for probes. */
    requestLimit?: RateLimitInfo;
  }
}

/** Whom a request is counted on: its user, its API key, or the address of a caller without a valid credential. */
function rateLimitKey(req: Request, { locals: { caller } }: Response): string {
  if (caller?.via === 'jwt') return `user:${caller.userId}`;
  if (caller?.via === 'api_key') return `key:${caller.keyHash}`;
  const address = `ip:${ipKeyGenerator(clientAddress(req), 64)}`; // of IPv6 a /64, which one device owns
  // What neighbours behind one address read must not sign anybody out.
  return req.path === `${apiBase}/auth/refresh` ? `refresh:${address}` : address;
}

/** Counts every request, sets the X-RateLimit trio of the contract, and rejects with the error envelope. */
export function createRequestLimit({ rateLimits }: Config, redis: SharedRedis | null) {
  const limitOf = {
    jwt: rateLimits.userPerMinute,
    api_key: rateLimits.apiKeyPerMinute,
    none: rateLimits.anonymousPerMinute,
  };
  return rateLimit({
    keyGenerator: rateLimitKey,
    windowMs: 60_000,
    limit: (_req, { locals: { caller } }) => limitOf[caller?.via ?? 'none'],
    requestPropertyName: 'requestLimit',
    standardHeaders: false,
    legacyHeaders: true,
    handler: ({ requestLimit }, _res, next) => {
      const waitMs = (requestLimit?.resetTime?.getTime() ?? 0) - Date.now();
      next(tooManyRequests(waitMs, 'limit_requests'));
    },
    store: new LimitStore('requests', redis),
  });
}
