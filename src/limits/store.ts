import { type ClientRateLimitInfo, MemoryStore, type Options, type Store } from 'express-rate-limit';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import type { SharedRedis } from '../shared/redis.ts';

export interface Counters extends Store {
  get(key: string): Promise<ClientRateLimitInfo | undefined>;
  decrement(key: string): Promise<void>;
}

/**
 * Returns a store in the memory of this process. Copies the counters of MemoryStore, which changes them in place,
 * because otherwise simultaneous requests would all see the count of the last one.
 * @param windowMs needed only without rateLimit(), which sets the window itself
 */
export function memoryStore(windowMs?: number): Counters {
  const store = new MemoryStore();
  if (windowMs !== undefined) store.init({ windowMs } as Options); // the store reads nothing else
  const increment = store.increment.bind(store);
  return Object.assign(store, {
    increment(key: string) {
      const counted = increment(key); // MemoryStore counts before it returns
      const counter = store.current.get(key);
      return counter ? { ...counter, resetTime: new Date(counter.resetTime) } : counted;
    },
  });
}

/** Returns a store in Redis. Initializes it each time Redis comes back, because RedisStore would keep a rejection. */
export function redisStore(name: string, windowMs: number, redis: SharedRedis): Counters {
  const prefix = `sounds:rate-limit:${name}:`;
  const store = new RedisStore({
    prefix,
    sendCommand: (command: string, ...args: string[]) => redis.send(command, ...args) as Promise<RedisReply>,
  });
  const options = { windowMs } as Parameters<RedisStore['init']>[0]; // the store reads nothing else
  redis.addCheck(async () => {
    await store.init(options);
    await store.increment('check');
    await store.resetKey('check');
  });
  // DECR alone would create a counter that never expires if Redis has evicted it.
  const script = "return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('DECR', KEYS[1])";
  const decrement = (key: string) => redis.send('EVAL', script, 1, prefix + key) as Promise<void>;
  return Object.assign(store, { decrement });
}
