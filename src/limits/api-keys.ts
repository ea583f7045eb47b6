import type { RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';
import type { Data } from '../supabase/data.ts';
import type { AttemptLimits } from './attempt-limit.ts';
import { createCoalescer } from './coalesce.ts';

/** A key that was live so lately is taken for live, in milliseconds; every call of the data API checks it all the same. */
const liveForMs = 3_000;

/** A key that was live so lately may be asked about again without a reservation, in milliseconds. */
const rememberedMs = 3_600_000;

/**
 * Proves API keys before anything else is said of their request. Keys with a right checksum are free to make, so the address
 * reserves one unknown key before the database is asked, and is refunded when the key proves live.
 */
export function proveApiKeys(attempt: AttemptLimits, data: Data): RequestHandler {
  const provedAt = new LRUCache<string, number>({ max: 10_000, ttl: rememberedMs });
  const coalesce = createCoalescer();

  return async (req, res, next) => {
    const { caller } = res.locals;
    if (caller?.via !== 'api_key') return next();
    const { keyHash } = caller;
    const lastProvedAt = provedAt.get(keyHash);
    if (lastProvedAt !== undefined && performance.now() - lastProvedAt < liveForMs) return next();
    const prove = () => data.find(caller, 'get_customer');
    try {
      await coalesce.inFlight(keyHash, () =>
        lastProvedAt === undefined ? attempt(['unknownApiKeys'], req, res, prove) : prove(),
      );
      provedAt.set(keyHash, performance.now());
    } catch (error) {
      const code = error instanceof ApiError ? error.code : undefined;
      if (code === 'unauthorized') provedAt.delete(keyHash);
      if (code === 'rate_limited') res.locals.caller = null; // nobody knows the key: its address pays for the request
      res.locals.authError = error;
    }
    next();
  };
}
