import type { Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';
import { type Attempt, type AttemptLimit, tooManyRequests } from './attempt-limit.ts';
import { addressOf } from './extra-limits.ts';

declare module 'express-serve-static-core' {
  interface Locals {
    /** What the address has paid for the API key of the request, until it is known what became of it. */
    paidForKey?: Attempt | undefined;
  }
}

/** For how long a key that was found live need not be paid for, in milliseconds. It is asked about all the same. */
const provenMs = 60_000;

/**
 * The limit of API keys of an address that were refused: keys with a right checksum are free to make, and each would have a
 * budget of its own. An address pays for a key before the database is asked about it, and gets that back when the key
 * proves live: so good keys never count, and no more made-up ones are under way than the limit. Past it, no key of the
 * address is believed any more.
 */
export function createRefusedKeys(limit: AttemptLimit) {
  const proven = new LRUCache<string, true>({ max: 10_000, ttl: provenMs });

  async function pay(req: Request, res: Response, keyHash: string) {
    const attempt = await limit.begin(addressOf(req), () => proven.has(keyHash));
    req.refusedKeysLimit = attempt;
    res.locals.paidForKey = attempt;
    if (attempt.used > attempt.limit)
      Object.assign(res.locals, { caller: null, refusal: tooManyRequests(attempt, 'limit_requests') });
  }

  const check: RequestHandler = async (req, res, next) => {
    const { caller } = res.locals;
    if (caller?.via === 'api_key') {
      await pay(req, res, caller.keyHash);
      // Where no endpoint asks the database, nobody knows whether the key is live.
      res.once('close', () => {
        if (res.locals.operation === undefined || res.statusCode === 429) settle(res, res.statusCode !== 429);
      });
    }
    next();
  };

  function settle({ locals }: Response, counts: boolean) {
    const { paidForKey } = locals;
    locals.paidForKey = undefined;
    if (paidForKey !== undefined) void limit.end(paidForKey, counts);
  }

  return {
    check,

    /** Notes what became of a request with an API key. @param error what it failed with, if it did */
    judge(req: Request, res: Response, error?: unknown) {
      const { caller, paidForKey } = res.locals;
      if (caller?.via !== 'api_key') return;
      const code = error === undefined ? undefined : error instanceof ApiError ? error.code : 'server_error';
      if (code === 'server_error') return settle(res, true); // not known: nothing is given back
      if (code !== 'unauthorized') {
        proven.set(caller.keyHash, true);
        return settle(res, false);
      }
      proven.delete(caller.keyHash);
      if (paidForKey?.isUnderWay === false) void limit.count(addressOf(req)); // it was live until now
      settle(res, true);
    },
  };
}

export type RefusedKeys = ReturnType<typeof createRefusedKeys>;
