import type { Request, RequestHandler, Response } from 'express';
import { type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Config } from '../config/config.ts';
import { tooManyRequests } from '../errors.ts';
import { lruCache } from '../shared/lru-cache.ts';
import type { Metrics } from '../shared/metrics.ts';
import type { SharedRedis } from '../shared/redis.ts';
import { memoryStore, redisStore } from './store.ts';
import { type Exempt, emailOf, type Limit, type Limits, limits } from './table.ts';
import type { TrustedClients } from './trusted-clients.ts';

/** Middleware of each limit of the table. Beyond the limit it throws ApiError rate_limited. */
export interface Limiters extends Readonly<{ [Name in keyof Limits]: RequestHandler[] }> {}

type Parts = Readonly<{
  config: Pick<Config, 'rateLimits'>;
  trustedClients: TrustedClients;
  /** Hashes of API keys with which a request succeeded recently. */
  activeKeys: { has: (keyHash: string) => boolean };
  redis: SharedRedis | null;
  metrics: Metrics | null;
}>;

type Condition = (req: Request, res: Response) => boolean | Promise<boolean>;

/** Retry-After if attempts whose results are not known yet exceed a limit. */
const busyMs = 3_000;

function createLimiter(name: string, row: Limit, isExempt: Condition, { redis, metrics }: Parts): RequestHandler[] {
  const { windowMs, limit, keyGenerator, counts, reason, legacyHeaders = false } = row;
  const pending = lruCache<number>(10_000); // attempts whose results are not known yet

  const info = `${name}Limit` as 'requestsLimit';
  const counters = [{ info, store: memoryStore(), skip: isExempt }];
  if (redis !== null) {
    const skip: Condition = async (req, res) => redis.problem() !== null || (await isExempt(req, res));
    const sharedInfo = counts ? (`${name}SharedLimit` as typeof info) : info;
    counters.push({ info: sharedInfo, store: redisStore(name, windowMs, redis), skip });
  }
  const middleware = counters.map(({ info: requestPropertyName, store, skip }) =>
    rateLimit({
      ...{ windowMs, limit, keyGenerator, legacyHeaders, requestPropertyName, store, skip },
      passOnStoreError: true,
      logger: { error() {}, warn() {} }, // redis.ts logs failures
      handler(req, _res, next) {
        const { used, limit, key, resetTime } = req[requestPropertyName] as RateLimitInfo;
        const isBusy = used - (pending.get(key) ?? 0) < limit;
        const waitMs = isBusy ? busyMs : Number(resetTime) - Date.now();
        next(tooManyRequests(waitMs, isBusy ? 'limit_requests' : reason, name));
      },
    }),
  );
  if (counts === undefined) return middleware;

  /** Subtracts an attempt whose result does not count. */
  function settle(req: Request, res: Response, key: string) {
    pending.set(key, (pending.get(key) ?? 1) - 1);
    metrics?.rateLimitDecisions.inc({
      bucket: name,
      decision: res.locals.error?.limit === name ? 'limited' : 'allowed',
    });
    if (counts?.(res)) return;
    for (const { info, store } of counters)
      if (Number(req[info]?.resetTime) > Date.now()) store.decrement(key).catch(() => {}); // redis.ts logs failures
  }
  const attempt: RequestHandler = async (req, res, next) => {
    if (!(await isExempt(req, res))) {
      const key = keyGenerator(req, res);
      pending.set(key, (pending.get(key) ?? 0) + 1);
      res.once('result', () => settle(req, res, key)); // unlike 'finish', also if the client has disconnected
    }
    next();
  };
  return [attempt, ...middleware];
}

/** Returns the middleware of each limit. Counts here and in Redis, so that no process exceeds it while Redis fails. */
export function createLimiters(parts: Parts): Limiters {
  const { config, trustedClients, activeKeys } = parts;
  const isTrusted = (_req: Request, res: Response) => {
    res.locals.isTrusted ??= trustedClients.has(emailOf(res), res.locals.clientAddress);
    return res.locals.isTrusted;
  };
  const exempts: Record<Exempt, Condition> = {
    trustedClients: isTrusted,
    untrustedClients: async (req, res) => !(await isTrusted(req, res)),
    activeKeys: (_req, { locals: { caller } }) => caller?.via !== 'api_key' || activeKeys.has(caller.keyHash),
  };
  const rows = Object.entries<Limit>(limits(config.rateLimits)).map(([name, row]) => {
    const isExempt = row.exempt ? exempts[row.exempt] : () => false;
    return [name, createLimiter(name, row, isExempt, parts)];
  });
  return Object.fromEntries(rows) as unknown as Limiters;
}
