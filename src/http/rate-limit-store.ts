import { type ClientRateLimitInfo, MemoryStore, type Options, type Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import { reasonOf } from '../redis.ts';

/** After a failure Redis is left alone for so long, in milliseconds. */
const pauseMs = 1_000;

/** Takes one count back where there is one. DECR alone makes a key that is gone anew: at -1, and without an end. */
const takeBack = `if tonumber(redis.call('GET', KEYS[1]) or 0) > 0 then redis.call('DECR', KEYS[1]) end`;

/** Counts in this process. */
export class LocalStore extends MemoryStore {
  /** The library's own gives requests that came in one packet the count of the last of them, all of them. */
  override async increment(key: string): Promise<ClientRateLimitInfo> {
    const counted = super.increment(key); // it has been done when this returns
    const { totalHits, resetTime } = this.current.get(key) ?? (await counted);
    return { totalHits, resetTime };
  }
}

/**
 * Counts in Redis, and in this process while Redis fails: a limiter must not take the service down. express-rate-limit
 * alone would drop limit and headers then (`passOnStoreError`), and rate-limit-redis fails for good when Redis does
 * while its scripts are loaded: here that is tried anew after every failure, and until it has worked no request waits.
 */
export class FallbackStore implements Store {
  readonly prefix: string;
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #shared: RedisStore;
  readonly #local = new LocalStore();
  #options: Options | undefined;
  #isShared = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(redis: Redis, name: string, log: Logger) {
    this.#redis = redis;
    this.#log = log;
    this.prefix = `sounds:rate-limit:${name}:`;
    this.#shared = new RedisStore({
      prefix: this.prefix,
      sendCommand: (command: string, ...args: string[]) =>
        redis.call(command, ...args) as Promise<RedisReply>,
    });
  }

  init(options: Options) {
    this.#options = options;
    this.#local.init(options);
    this.#redis.on('ready', () => this.#setUp());
    this.#redis.on('close', () => {
      this.#isShared = false;
    });
  }

  /** Whether counting in Redis worked the last time it was tried. */
  get isShared(): boolean {
    return this.#isShared;
  }

  increment(key: string): Promise<ClientRateLimitInfo> {
    return this.#run(
      () => this.#shared.increment(key),
      () => this.#local.increment(key),
    );
  }

  get(key: string): Promise<ClientRateLimitInfo | undefined> {
    return this.#run(
      () => this.#shared.get(key),
      () => this.#local.get(key),
    );
  }

  /** Takes a count back where it was made. */
  async decrement(key: string): Promise<void> {
    const counted = await this.#local.get(key);
    if (counted && counted.totalHits > 0) return this.#local.decrement(key);
    await this.#run(
      () => this.#redis.eval(takeBack, 1, this.prefix + key),
      () => this.#local.decrement(key),
    );
  }

  async resetKey(key: string): Promise<void> {
    await this.#local.resetKey(key);
    await this.#run(
      () => this.#shared.resetKey(key),
      async () => {},
    );
  }

  async #setUp() {
    if (this.#redis.status !== 'ready' || this.#options === undefined) return;
    try {
      await this.#shared.init(this.#options);
      await this.#shared.increment('probe'); // a Redis that refuses to write takes the scripts all the same
      await this.#shared.resetKey('probe');
      this.#isShared = true;
    } catch (error) {
      this.#log.debug({ reason: reasonOf(error) }, 'Redis could not be set up for rate limits');
      this.#retryLater();
    }
  }

  #retryLater() {
    this.#isShared = false;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#setUp(), pauseMs).unref();
  }

  async #run<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    if (!this.#isShared) return local();
    try {
      return await shared();
    } catch (error) {
      this.#log.debug({ reason: reasonOf(error) }, 'A rate limit was counted in this process');
      this.#retryLater();
      return local();
    }
  }
}
