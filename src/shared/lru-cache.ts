import { LRUCache } from 'lru-cache';

/**
 * Makes a cache of at most `count` entries. Limits their size, because a cache with a maximum count allocates memory for
 * all of them in advance, and a gateway has twenty caches.
 */
export const lruCache = <Value extends {}>(count: number, ttl = 0) =>
  new LRUCache<string, Value>({ maxSize: count, sizeCalculation: () => 1, ttl });
