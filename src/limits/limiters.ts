import type { Request, RequestHandler, Response } from 'express';
import { type Options, rateLimit } from 'express-rate-limit';
import type { Config } from '../config.ts';
import { tooManyRequests } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { clientAddress } from '../model/client-address.ts';
import type { SharedRedis } from '../redis.ts';
import { memoryStore, redisStore } from './store.ts';
import { type Exempt, emailOf, type Limit, type LimitName, limits } from './table.ts';
import type { TrustedClients } from './trusted-clients.ts';

export type Limiters = Record<LimitName, RequestHandler[]>;

type Parts = Readonly<{
  config: Pick<Config, 'rateLimits'>;
  trustedClients: TrustedClients;
  /** Hashes of API keys with which a request succeeded recently. */
  activeKeys: { has: (keyHash: string) => boolean };
  redis: SharedRedis | null;
  metrics: Metrics | null;
}>;

/**
 * Returns the middleware of each limit. A request counts in this process and, while Redis is up, in Redis too, so that
 * no process exceeds the limit while Redis fails and recovers.
 */
export function createLimiters({ config, trustedClients, activeKeys, redis, metrics }: Parts): Limiters {
  const exempts: Record<Exempt, (req: Request, res: Response) => boolean | Promise<boolean>> = {
    trustedClients: (req, res) => trustedClients.has(emailOf(res), clientAddress(req)),
    activeKeys: (_req, { locals: { caller } }) => caller?.via !== 'api_key' || activeKeys.has(caller.keyHash),
  };

  function limiter(name: string, row: Limit): RequestHandler[] {
    const { windowMs, limit, keyGenerator, counts, exempt, reason, legacyHeaders = false } = row;
    const info = `${name}Limit` as 'requestsLimit';
    const isExempt = exempt ? exempts[exempt] : () => false;
    const options: Partial<Options> = {
      windowMs,
      limit,
      keyGenerator,
      legacyHeaders,
      skip: isExempt,
      requestPropertyName: info,
      skipSuccessfulRequests: counts !== undefined,
      requestWasSuccessful: (_req, res) => counts?.(res) === false,
      handler(req, _res, next) {
        if (counts) metrics?.rateLimitDecisions.inc({ bucket: name, decision: 'limited' });
        next(tooManyRequests(Number(req[info]?.resetTime) - Date.now(), reason));
      },
    };
    const passed: RequestHandler = (req, res, next) => {
      if (counts) res.setMaxListeners(res.getMaxListeners() + 2); // each of the two limiters adds a listener
      if (counts && req[info]) metrics?.rateLimitDecisions.inc({ bucket: name, decision: 'allowed' });
      next();
    };
    const perProcess = rateLimit({ ...options, store: memoryStore() });
    if (redis === null) return [perProcess, passed];
    const shared = rateLimit({
      ...options,
      store: redisStore(name, windowMs, redis),
      skip: async (req, res) => redis.problem() !== null || (await isExempt(req, res)),
      passOnStoreError: true,
      logger: { error() {}, warn() {} }, // redis.ts logs failures
    });
    return [perProcess, shared, passed];
  }

  const rows = Object.entries<Limit>(limits(config.rateLimits));
  return Object.fromEntries(rows.map(([name, row]) => [name, limiter(name, row)])) as Limiters;
}
