import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type RateLimitInfo, rateLimit } from 'express-rate-limit';
import type { Config } from '../config/config.ts';
import { type ApiError, tooManyRequests } from '../errors.ts';
import { lruCache } from '../shared/lru-cache.ts';
import type { Metrics } from '../shared/metrics.ts';
import { refusalDelay } from '../shared/minimum-delay.ts';
import type { SharedRedis } from '../shared/redis.ts';
import { emailOf } from './key-generators.ts';
import { type Counters, memoryStore, redisStore } from './store.ts';
import { type ActiveKeys, type Limit, type LimitName, limits } from './table.ts';
import type { TrustedClients } from './trusted-clients.ts';

/** Middleware of each limit. Beyond the limit it throws ApiError rate_limited. */
export interface Limiters extends Readonly<{ [Name in LimitName]: RequestHandler[] }> {}

interface Parts {
  readonly config: Pick<Config, 'rateLimits'>;
  readonly trustedClients: TrustedClients;
  readonly activeKeys: ActiveKeys;
  readonly auth: { overload(ip: string): ApiError | undefined };
  readonly redis: SharedRedis | null;
  readonly metrics: Metrics | null;
}

/** Retry-After if attempts whose results are not known yet exceed a limit. */
const busyMs = 3_000;

/**
 * Rejects a request that is beyond a limit. If the limit has `letsTrustedTry` and the account trusts the client, lets
 * it continue and keeps the error in `locals.refusal`, which is the response if the attempt fails. README.md has a table
 * of what the other limits do with such an attempt.
 */
async function rejectUnlessTrusted(
  error: ApiError,
  { letsTrustedTry }: Pick<Limit, 'letsTrustedTry'>,
  { trustedClients }: Parts,
  res: Response,
  next: NextFunction,
) {
  const { locals } = res;
  if (!letsTrustedTry) {
    if (locals.refusal === undefined) return next(error);
    // The client is trusted and beyond an earlier limit, so it gets the same response as if its attempt had failed.
    await locals.refusalDue;
    return next(locals.refusal);
  }
  // Starts before the trust is known, so that the response time does not reveal it.
  locals.refusalDue ??= refusalDelay();
  locals.isTrusted ??= trustedClients.has(emailOf(res), locals.clientAddress);
  if (await locals.isTrusted) {
    locals.refusal ??= error;
    return next();
  }
  await locals.refusalDue;
  next(error);
}

/** Returns the count of a key, if it has reached the limit in one of the stores. */
async function fullCount(stores: readonly Counters[], key: string, limit: Limit['limit']) {
  const counts = await Promise.all(stores.map((store) => store.get(key).catch(() => undefined)));
  return counts.find((count) => count !== undefined && count.totalHits >= Number(limit));
}

/** Creates the counters of a limit: in this process, and in Redis, which is skipped while it fails. */
function createCounters(name: string, row: Limit, { redis, activeKeys }: Parts) {
  const { appliesTo = ({ locals }: Response) => locals.refusal === undefined } = row;
  const isExempt = (res: Response) => !appliesTo(res, activeKeys);
  // Name of the count on the request. The assertion is the only such name that http/locals.ts declares.
  const info = `${name}Limit` as 'requestsLimit';
  const counters = [{ info, store: memoryStore(), skip: (_req: Request, res: Response) => isExempt(res) }];
  if (redis !== null) {
    const skip = (_req: Request, res: Response) => redis.problem() !== null || isExempt(res);
    // Attempts that do not count are subtracted from each store, so they need both counts. Headers need the shared one.
    const sharedInfo = row.counts ? (`${name}SharedLimit` as typeof info) : info;
    counters.push({ info: sharedInfo, store: redisStore(name, row.windowMs, redis), skip });
  }
  const stores = () => (redis?.problem() === null ? counters : counters.slice(0, 1)).map(({ store }) => store);
  return { counters, isExempt, stores };
}

/**
 * Creates the middleware that rejects an attempt beyond another limit if this one is full, too. The attempt does not
 * count here, because a window that it starts would show in a later Retry-After that the account trusts the client.
 */
function createCheck(row: Limit, stores: () => Counters[], parts: Parts): RequestHandler {
  return async (req, res, next) => {
    const { refusal } = res.locals;
    const mustCheck = refusal !== undefined && !row.letsTrustedTry;
    if (!mustCheck || !(await fullCount(stores(), row.keyGenerator(req, res), row.limit))) return next();
    await rejectUnlessTrusted(refusal, row, parts, res, next);
  };
}

/** Creates the middleware of a limit that counts at the start of a request, here and in Redis while it is up. */
function createLimiter(name: string, row: Limit, parts: Parts): RequestHandler[] {
  const { windowMs, limit, keyGenerator, counts, reason, legacyHeaders = false } = row;
  /** Numbers of attempts whose results are not known yet, with the one that is checked, by their keys. */
  const pending = lruCache<number>(10_000);
  const { counters, isExempt, stores } = createCounters(name, row, parts);
  const middleware = counters.map(({ info: requestPropertyName, store, skip }) =>
    rateLimit({
      windowMs,
      limit,
      keyGenerator,
      legacyHeaders,
      requestPropertyName,
      store,
      skip,
      passOnStoreError: true,
      logger: { error() {}, warn() {} }, // redis.ts logs failures
      async handler(req, res, next) {
        const count = req[requestPropertyName] as RateLimitInfo;
        const settled = count.used - (pending.get(count.key) ?? 0);
        const onlyPendingExceed = settled < count.limit;
        const waitMs = onlyPendingExceed ? busyMs : Number(count.resetTime) - Date.now();
        const error = tooManyRequests(waitMs, onlyPendingExceed ? 'limit_requests' : reason, name);
        await rejectUnlessTrusted(error, row, parts, res, next);
      },
    }),
  );
  if (counts === undefined) return middleware;

  /** Subtracts an attempt whose result does not count. */
  function settle(req: Request, res: Response, key: string) {
    pending.set(key, (pending.get(key) ?? 1) - 1);
    recordDecision(name, res, parts);
    if (counts?.(res, parts.activeKeys)) return;
    for (const { info, store } of counters) {
      const isInWindow = Number(req[info]?.resetTime) > Date.now(); // the next window has not counted this attempt
      if (isInWindow) store.decrement(key).catch(() => {}); // redis.ts logs failures
    }
  }
  const attempt: RequestHandler = (req, res, next) => {
    if (!isExempt(res)) {
      const key = keyGenerator(req, res);
      pending.set(key, (pending.get(key) ?? 0) + 1);
      res.once('result', () => settle(req, res, key)); // unlike 'finish', also if the client has disconnected
    }
    next();
  };
  return [createCheck(row, stores, parts), attempt, ...middleware];
}

/**
 * Creates the middleware of a limit that counts when a response is known, here and in Redis while it is up. Attempts
 * with a refusal count, too, if their result does.
 */
function createLateLimiter(name: string, row: Limit & { limit: number }, parts: Parts): RequestHandler[] {
  const { windowMs, limit, keyGenerator, counts, reason } = row;
  const here = memoryStore(windowMs);
  const shared = parts.redis && redisStore(name, windowMs, parts.redis);
  const stores = (): Counters[] => (shared && parts.redis?.problem() === null ? [here, shared] : [here]);

  return [
    async (req, res, next) => {
      const key = keyGenerator(req, res);
      const full = await fullCount(stores(), key, limit);
      if (full) {
        const error = tooManyRequests(Number(full.resetTime) - Date.now(), reason, name);
        return rejectUnlessTrusted(error, row, parts, res, next);
      }
      res.once('result', () => {
        recordDecision(name, res, parts);
        if (counts?.(res, parts.activeKeys))
          for (const store of stores()) Promise.resolve(store.increment(key)).catch(() => {});
      });
      next();
    },
  ];
}

/** Creates the middleware that checks the queue of password calls, so that its 429 does not reveal trust either. */
function createQueueCheck(parts: Parts): RequestHandler {
  return async (_req, res, next) => {
    const error = parts.auth.overload(res.locals.clientAddress);
    if (error === undefined) return next();
    await rejectUnlessTrusted(error, { letsTrustedTry: true }, parts, res, next);
  };
}

function recordDecision(bucket: string, { locals }: Response, { metrics }: Parts) {
  metrics?.rateLimitDecisions.inc({ bucket, decision: locals.error?.limit === bucket ? 'limited' : 'allowed' });
}

/** Creates the middleware of each limit. Counts here and in Redis, so that no process exceeds it while Redis fails. */
export function createLimiters(parts: Parts): Limiters {
  const rows = Object.entries<Limit>(limits(parts.config.rateLimits)).map(([name, row]) => [
    name,
    isLate(row) ? createLateLimiter(name, row, parts) : createLimiter(name, row, parts),
  ]);
  return { ...Object.fromEntries(rows), passwordQueue: [createQueueCheck(parts)] } as unknown as Limiters;
}

const isLate = (row: Limit): row is Limit & { limit: number } => row.countsLate === true;
