import { createHash } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { SharedRedis } from '../redis.ts';

const rememberedMs = 30 * 24 * 3_600_000;

/** Of IPv6 a /56, which is one connection to the Internet. */
export const clientKey = (ip: string) => ipKeyGenerator(ip, 56);

/** Of IPv6 a /48, of IPv4 a /24: what one customer of a provider can be given. */
export const networkKey = (ip: string) => ipKeyGenerator(ip, 48).replace(/\.\d+$/, '');

/** An account by its e-mail address, which is nobody's business in Redis. @param client where from, if that matters */
export const accountKey = (email: string, client = '') =>
  createHash('sha256').update(`${email.trim().toLowerCase()} ${client}`).digest('hex');

/**
 * The clients from which an account was signed in to during the last 30 days: its owner is at home there, and what strangers
 * do elsewhere must not lock them out.
 */
export function createKnownClients(redis: SharedRedis | null) {
  const known = new LRUCache<string, true>({ max: 20_000, ttl: rememberedMs });
  const keyOf = (email: string, ip: string) => `sounds:known-client:${accountKey(email, clientKey(ip))}`;

  return {
    async has(email: string, ip: string): Promise<boolean> {
      const key = keyOf(email, ip);
      if (known.has(key)) return true;
      const found = await redis?.run(
        (client) => client.exists(key),
        () => 0,
      );
      return found === 1;
    },

    async add(email: string, ip: string): Promise<void> {
      const key = keyOf(email, ip);
      known.set(key, true);
      await redis?.run<unknown>(
        (client) => client.set(key, 1, 'PX', rememberedMs),
        () => null,
      );
    },
  };
}

export type KnownClients = ReturnType<typeof createKnownClients>;
