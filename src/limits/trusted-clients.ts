import { accountKey, clientKey } from '../shared/address-keys.ts';
import { lruCache } from '../shared/lru-cache.ts';
import type { SharedRedis } from '../shared/redis.ts';

const trustedMs = 30 * 24 * 3_600_000;

/**
 * Remembers for 30 days which clients have signed in to an account, by a password or a mailed code, so that wrong
 * passwords from other clients cannot lock out its owner ("device cookies" in the words of OWASP, by address instead of
 * by cookie).
 */
export function createTrustedClients(redis: SharedRedis | null) {
  /**
   * Unix times in milliseconds: when a client has last signed in by a password or a mailed code, and when all trust in
   * the clients of an account has ended.
   */
  const times = lruCache<number>(20_000, trustedMs);
  const keyOf = (email: string, ip: string) => `sounds:trusted-client:${accountKey(email, clientKey(ip))}`;
  const endKeyOf = (email: string) => `sounds:trust-ended:${accountKey(email)}`;
  const send = (...command: Parameters<SharedRedis['send']>) =>
    redis?.problem() === null ? redis.send(...command).catch(() => null) : null;
  redis?.addCheck(() => redis.send('EXISTS', 'sounds:trusted-client:check'));

  async function record(key: string): Promise<void> {
    times.set(key, Date.now());
    await send('SET', key, Date.now(), 'PX', trustedMs);
  }

  return {
    async has(email: string, ip: string): Promise<boolean> {
      const key = keyOf(email, ip);
      const endKey = endKeyOf(email);
      const [sharedAt = null, sharedEnd = null] = ((await send('MGET', key, endKey)) ?? []) as (string | null)[];
      const trustedAt = Math.max(times.get(key) ?? 0, Number(sharedAt));
      const endedAt = Math.max(times.get(endKey) ?? 0, Number(sharedEnd));
      return trustedAt > 0 && trustedAt >= endedAt; // equal if a confirmation ends all trust and begins it anew
    },

    trust: (email: string, ip: string) => record(keyOf(email, ip)),

    /** Ends the trust in all clients of an address, because a new or confirmed account may have another owner. */
    endAll: (email: string) => record(endKeyOf(email)),
  };
}

export type TrustedClients = ReturnType<typeof createTrustedClients>;
