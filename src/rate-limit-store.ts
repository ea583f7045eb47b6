import { type ClientRateLimitInfo, MemoryStore, type Options } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type RedisReply, RedisStore } from 'rate-limit-redis';

/** After a failure Redis is left alone for so long, so that a frozen one does not slow every request down. */
const pauseMs = 1_000;

/**
 * Counts in Redis, and in this process while Redis cannot be reached: a limiter must not take the service down.
 * The library's own store fails for good when Redis is away at the start, so it is set up on every connection.
 */
export class SharedStore {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #shared: RedisStore;
  readonly #local = new MemoryStore();
  #ready = false;
  #failing = false;
  #pausedUntilMs = 0;

  constructor(redis: Redis, name: string, log: Logger) {
    this.#redis = redis;
    this.#log = log;
    this.#shared = new RedisStore({
      prefix: `sounds:rate-limit:${name}:`,
      sendCommand: (command: string, ...args: string[]) =>
        redis.call(command, ...args) as Promise<RedisReply>,
    });
  }

  init(options: Options): void {
    this.#local.init(options);
    const setUp = () => {
      this.#shared.init(options).then(
        () => {
          this.#ready = true;
          this.#failing = false;
        },
        (error: unknown) => this.#fail(error),
      );
    };
    this.#redis.on('ready', setUp);
    if (this.#redis.status === 'ready') setUp();
    this.#redis.on('close', () => {
      this.#ready = false;
    });
  }

  /** Whether counting in Redis worked the last time it was tried. */
  get isShared(): boolean {
    return this.#ready && !this.#failing;
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

  async #run<T>(shared: () => Promise<T>, local: () => Promise<T>): Promise<T> {
    if (!this.#ready || Date.now() < this.#pausedUntilMs) return local();
    try {
      const result = await shared();
      this.#failing = false;
      return result;
    } catch (error) {
      this.#fail(error);
      return local();
    }
  }

  #fail(error: unknown) {
    this.#pausedUntilMs = Date.now() + pauseMs;
    this.#failing = true;
    this.#log.debug({ err: error }, 'A rate limit was counted in this process');
  }
}
