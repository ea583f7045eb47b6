import type { Logger } from 'pino';
import type { Caller } from '../model/caller.ts';
import { lruCache } from '../shared/lru-cache.ts';
import { requestContext } from '../shared/request-context.ts';
import type { Data } from './data.ts';

const intervalMs = 15 * 60_000;

/** Delay of the next call and the next warning after a failure, for example of a read-only database. */
const retryMs = 60_000;

/** Records when users were last seen: after the response, every 15 minutes at most. Never fails a request. */
export function createLastSeen(data: Data, log: Logger) {
  const recorded = lruCache<true>(10_000, intervalMs);
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (caller: Caller | null) => {
    if (caller?.via !== 'jwt' || recorded.has(caller.userId)) return;
    recorded.set(caller.userId, true);
    // Runs without the request's deadline, which may have passed.
    requestContext
      .exit(() => data.call(caller, 'touch_last_seen'))
      .catch((error: unknown) => {
        recorded.set(caller.userId, true, { ttl: retryMs });
        if (performance.now() - warnedAt < retryMs) return;
        warnedAt = performance.now();
        log.warn({ err: error }, 'last_seen_at could not be written. Failures of the next minute are not logged');
      });
  };
}
