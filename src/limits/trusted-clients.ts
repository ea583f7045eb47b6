import { accountKey, clientKey } from '../shared/client-keys.ts';
import { lruCache } from '../shared/lru-cache.ts';
import type { SharedRedis } from '../shared/redis.ts';

const trustedMs = 30 * 24 * 3_600_000;

/**
 * Remembers for 30 days which clients have signed in to an account, so that wrong passwords from other clients cannot
 * lock out its owner ("device cookies" in the words of OWASP, by address instead of by cookie).
 */
export function createTrustedClients(redis: SharedRedis | null) {
  const trusted = lruCache<true>(20_000, trustedMs);
  const keyOf = (email: string, ip: string) => `sounds:trusted-client:${accountKey(email, clientKey(ip))}`;
  const send = (...command: Parameters<SharedRedis['send']>) =>
    redis?.problem() === null ? redis.send(...command).catch(() => null) : null;
  redis?.addCheck(() => redis.send('EXISTS', 'sounds:trusted-client:check'));

  return {
    async has(email: string, ip: string): Promise<boolean> {
      const key = keyOf(email, ip);
      return trusted.has(key) || (await send('EXISTS', key)) === 1;
    },

    async add(email: string, ip: string): Promise<void> {
      const key = keyOf(email, ip);
      trusted.set(key, true);
      await send('SET', key, 1, 'PX', trustedMs);
    },
  };
}

export type TrustedClients = ReturnType<typeof createTrustedClients>;
