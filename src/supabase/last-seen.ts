import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Caller } from '../model/caller.ts';
import { requestContext } from '../request-context.ts';
import type { Data } from './data.ts';

const intervalMs = 15 * 60_000;

/**
 * Records when users were last seen: after their answer, at most every 15 minutes, and without ever failing a request.
 * The database keeps the interval too, across processes; this only spares it the question.
 */
export function createLastSeen(data: Data, log: Logger) {
  const recorded = new LRUCache<string, true>({ max: 10_000, ttl: intervalMs });
  return (caller: Caller | null) => {
    if (caller?.via !== 'jwt' || recorded.has(caller.userId)) return;
    recorded.set(caller.userId, true);
    // With a deadline of its own, not what is left of the request's.
    const record = () => data.call(caller, 'touch_last_seen');
    requestContext.exit(record).catch((error: unknown) => {
      recorded.delete(caller.userId);
      log.warn({ err: error }, 'last_seen_at could not be written');
    });
  };
}
