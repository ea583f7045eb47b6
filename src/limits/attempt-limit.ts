import type { Request, Response } from 'express';
import { ApiError } from '../errors.ts';
import { clientAddress } from '../http/client-address.ts';
import type { Metrics } from '../metrics.ts';
import type { SharedRedis } from '../redis.ts';
import type { KnownClients } from './known-clients.ts';
import { createQueues, Turn } from './queues.ts';
import { LimitStore } from './store.ts';
import type { Limit, LimitName, Outcome } from './table.ts';
import { tooManyRequests } from './too-many-requests.ts';

/** Keeps a limit from counting an attempt that turned out not to be what it is about. */
export type Refund = (name: LimitName) => void;

const outcomeOfCode: { [code: string]: Outcome } = {
  unauthorized: 'rejected',
  invalid_request: 'rejected',
  rate_limited: 'limited',
};

const outcomeOf = (error: unknown): Outcome =>
  (error instanceof ApiError ? outcomeOfCode[error.code] : undefined) ?? 'failed';

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;

/**
 * Limits of attempts that do not all count in the end: each is reserved before it begins, and kept or refunded by its outcome.
 * Half of a limit is in flight at once under one key and the others wait for those, so that only what counts keeps anybody from
 * trying: any number of good sign-ins for one account may come at once, and no more wrong ones than the limit.
 */
export function createAttemptLimits(
  table: Record<LimitName, Limit>,
  known: KnownClients,
  redis: SharedRedis | null,
  metrics: Metrics | null,
) {
  const rows = new Map(
    Object.entries(table).map(([name, limit]) => {
      const store = new LimitStore(name, redis);
      store.init(limit);
      return [name, { ...limit, store, inTurn: createQueues(Math.max(1, Math.floor(limit.limit / 2))) }];
    }),
  );

  async function underLimit<T>(
    name: LimitName,
    { req, res, refunded }: Attempt,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const row = rows.get(name);
    if (!row) throw new Error(`There is no limit ${name}`);
    const { limit, reason, counts, store, inTurn, rateLimitKey, isForStrangers } = row;
    if (isForStrangers && (await known.has(req.body.email, clientAddress(req)))) return attempt();
    const key = rateLimitKey(req, res);
    const turn = new Turn();
    res.once('close', () => turn.leave());
    return inTurn(key, turn, async () => {
      turn.start();
      const { totalHits, resetTime, refund } = await store.reserve(key);
      metrics?.rateLimitDecided(name, totalHits > limit);
      if (totalHits > limit) {
        await refund();
        throw tooManyRequests(resetTime.getTime() - Date.now(), reason);
      }
      let outcome: Outcome = 'done';
      try {
        const payload = await attempt();
        if (isForStrangers) await known.add(req.body.email, clientAddress(req));
        return payload;
      } catch (error) {
        outcome = outcomeOf(error);
        throw error;
      } finally {
        if (refunded.has(name) || !counts.includes(outcome)) await refund();
      }
    });
  }

  type Attempt = { req: Request; res: Response; refunded: ReadonlySet<LimitName> };

  /**
   * Makes an attempt under each of these limits.
   * @throws ApiError rate_limited; then none of them counts the attempt
   */
  return <T>(
    names: readonly LimitName[],
    req: Request,
    res: Response,
    attempt: (refund: Refund) => Promise<T>,
  ): Promise<T> => {
    const refunded = new Set<LimitName>();
    const limited = names.reduceRight<() => Promise<T>>(
      (inner, name) => () => underLimit(name, { req, res, refunded }, inner),
      () => attempt((name) => void refunded.add(name)),
    );
    return limited();
  };
}
