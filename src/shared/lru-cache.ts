import { LRUCache } from 'lru-cache';

/**
 * Makes a cache of at most `count` entries. Limits their total size, with size 1 for each, because LRUCache allocates
 * memory for a maximum count in advance, and a gateway has twenty caches.
 */
export const lruCache = <Value extends {}>(count: number, ttl = 0) =>
  new LRUCache<string, Value>({ maxSize: count, sizeCalculation: () => 1, ttl });
