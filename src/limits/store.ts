import { hash } from 'node:crypto';
import { type ClientRateLimitInfo, MemoryStore, type Options, type Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import type { SharedRedis } from '../redis.ts';

/** Takes one count back where there is one. DECR alone makes a key that is gone anew: at -1, and without an end. */
const refundScript = `if tonumber(redis.call('GET', KEYS[1]) or 0) > 0 then redis.call('DECR', KEYS[1]) end`;

/** Counts in this process. */
class LocalStore extends MemoryStore {
  /** The library's own gives requests that came in one packet the count of the last of them, all of them. */
  override async increment(key: string): Promise<ClientRateLimitInfo> {
    const counted = super.increment(key); // it has been done when this returns
    const { totalHits, resetTime } = this.current.get(key) ?? (await counted);
    return { totalHits, resetTime };
  }
}

/** For rate-limit-redis, which never recovers from a script that Redis could not load: here each call sends its script. */
function sendCommandTo(client: Redis) {
  const scripts = new Map<string, string>();
  return async (command: string, first = '', ...others: string[]): Promise<RedisReply> => {
    const script = scripts.get(first);
    if (command === 'EVALSHA' && script) return (await client.call('EVAL', script, ...others)) as RedisReply;
    const text = others.join(); // of SCRIPT LOAD
    scripts.set(hash('sha1', text), text);
    return hash('sha1', text);
  };
}

/** One that was counted. Its refund takes it back where it was counted, unless the window has ended. */
export type Reservation = Readonly<{ totalHits: number; resetTime: Date; refund: () => Promise<void> }>;

/** Counts by key within a window: in Redis while it is up, else in this process. */
export class LimitStore implements Store {
  readonly prefix: string;
  readonly #redis: SharedRedis | null;
  readonly #shared: RedisStore | null;
  readonly #local = new LocalStore();

  /** @param name tells the keys of this limit from those of others */
  constructor(name: string, redis: SharedRedis | null) {
    this.prefix = `sounds:rate-limit:${name}:`;
    this.#redis = redis;
    this.#shared = redis && new RedisStore({ prefix: this.prefix, sendCommand: sendCommandTo(redis.client) });
  }

  init(options: Pick<Options, 'windowMs'>) {
    this.#local.init(options as Options); // the stores read no other option
    void this.#shared?.init(options as Options);
  }

  reserve(key: string): Promise<Reservation> {
    const [redis, shared] = [this.#redis, this.#shared];
    const countLocally = async () => ({
      ...((await this.#local.increment(key)) as Reservation),
      refund: () => this.#local.decrement(key),
    });
    if (redis === null || shared === null) return countLocally();
    const refund = (client: Redis) => client.eval(refundScript, 1, this.prefix + key);
    return redis.run(async () => {
      const counted = (await shared.increment(key)) as Reservation;
      return { ...counted, refund: async () => void (await redis.run(refund, () => null)) };
    }, countLocally);
  }

  increment = (key: string): Promise<ClientRateLimitInfo> => this.reserve(key);
  decrement = (key: string) => this.#local.decrement(key);
  resetKey = (key: string) => this.#local.resetKey(key);
}
