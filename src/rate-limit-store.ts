import { type ClientRateLimitInfo, MemoryStore, type Options } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type RedisReply, RedisStore } from 'rate-limit-redis';

/** After a failure Redis is left alone for so long, in milliseconds. */
const pauseMs = 1_000;

/**
 * Counts in Redis, and in this process while Redis fails: a limiter must not take the service down. The library's own
 * store fails for good when Redis does while it is set up. Here it is set up anew after every failure, and until that
 * has worked no request waits for Redis.
 */
export class SharedStore {
  readonly #redis: Redis;
  readonly #options: Options;
  readonly #log: Logger;
  readonly #shared: RedisStore;
  readonly #local = new MemoryStore();
  #isSetUp = false;
  #isFailing = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(redis: Redis, name: string, options: Options, log: Logger) {
    this.#redis = redis;
    this.#options = options;
    this.#log = log;
    this.#local.init(options);
    this.#shared = new RedisStore({
      prefix: `sounds:rate-limit:${name}:`,
      sendCommand: (command: string, ...args: string[]) =>
        redis.call(command, ...args) as Promise<RedisReply>,
    });
    redis.on('ready', () => this.#setUp());
    redis.on('close', () => {
      this.#isSetUp = false;
    });
  }

  /** Whether counting in Redis worked the last time it was tried. One that refuses to write can be set up all the same. */
  get isShared(): boolean {
    return this.#isSetUp && !this.#isFailing;
  }

  increment(key: string): Promise<ClientRateLimitInfo> {
    return this.#run(
      () => this.#shared.increment(key),
      () => this.#local.increment(key),
    );
  }

  decrement(key: string): Promise<void> {
    return this.#run(
      () => this.#shared.decrement(key),
      () => this.#local.decrement(key),
    );
  }

  async #setUp() {
    if (this.#redis.status !== 'ready') return;
    try {
      await this.#shared.init(this.#options);
      this.#isSetUp = true;
    } catch (error) {
      this.#log.debug({ err: error }, 'Redis could not be set up for rate limits');
      this.#retryLater();
    }
  }

  #retryLater() {
    this.#isSetUp = false;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#setUp(), pauseMs).unref();
  }

  async #run<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    if (!this.#isSetUp) return local();
    try {
      const result = await shared();
      this.#isFailing = false;
      return result;
    } catch (error) {
      this.#isFailing = true;
      this.#log.debug({ err: error }, 'A rate limit was counted in this process');
      this.#retryLater();
      return local();
    }
  }
}
