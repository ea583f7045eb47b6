import { MemoryStore, type Store } from 'express-rate-limit';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import type { SharedRedis } from '../redis.ts';

/**
 * Returns a store in the memory of this process. It copies the counters of MemoryStore, because otherwise requests that
 * arrive together would all see the count of the last one.
 */
export function memoryStore(): Store {
  const store = new MemoryStore();
  const increment = store.increment.bind(store);
  return Object.assign(store, {
    increment(key: string) {
      const counted = increment(key); // MemoryStore counts before it returns
      const counter = store.current.get(key);
      return counter ? { ...counter } : counted;
    },
  });
}

/**
 * Returns a store that all processes share. Initializes it whenever Redis comes back, because RedisStore would keep the
 * rejection of its first attempt.
 */
export function redisStore(name: string, windowMs: number, redis: SharedRedis): Store {
  const store = new RedisStore({
    prefix: `sounds:rate-limit:${name}:`,
    sendCommand: (command: string, ...args: string[]) => redis.send(command, ...args) as Promise<RedisReply>,
  });
  const options = { windowMs } as Parameters<RedisStore['init']>[0]; // the store reads nothing else
  redis.addCheck(async () => {
    await store.init(options);
    await store.increment('check');
    await store.resetKey('check');
  });
  return store;
}
