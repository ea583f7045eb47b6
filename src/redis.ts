import { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** A request goes on without Redis after this, in milliseconds. */
const commandTimeoutMs = 250;

/** Redis is down when it takes longer to answer a probe, in milliseconds. While it is down, a probe is sent this often. */
const probeTimeoutMs = 750;
const probeIntervalMs = 1_000;

/** A script, since limits are counted by scripts, and a write: a Redis that is full or a replica answers reads all the same. */
const probeScript = `return redis.call('SET', KEYS[1], 1, 'PX', 1000)`;

class LateError extends Error {}

/** Rejects after so long. What has arrived by then counts, however late a busy process gets to read it. */
function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new LateError(`No answer within ${timeoutMs} ms`));
    const timer = setTimeout(() => setImmediate(late), timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * What may be said of an error of ioredis. The error holds the command that failed, which may be the one with the password;
 * so does the message of a server that does not know the command.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code } = error as NodeJS.ErrnoException;
  return message.replace(/,? with args.*/s, '') || code || error.name; // of several attempts to connect, the code alone
}

/**
 * Redis behind one circuit breaker. It is down when it disconnects, answers with an error or is too late for a probe, and up
 * again when a probe succeeds; both are logged. One late answer alone proves nothing: the machine may be busy.
 */
export function connectRedis(url: string, log: Logger) {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 2_000, // of those that connect; no request waits as long
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  const listeners: (() => void)[] = [];
  let isUp: boolean | undefined;
  let isProbing = false;
  let nextProbe: NodeJS.Timeout | undefined;

  function setUp(value: boolean, error?: unknown) {
    if (isUp === value) return;
    isUp = value;
    if (isUp) log.info('Redis is connected: rate limits are shared');
    else log.warn({ reason: reasonOf(error) }, 'Redis is out of reach: each process limits by itself');
    for (const listener of listeners) listener();
  }

  async function probe() {
    if (isProbing || client.status === 'end') return;
    isProbing = true;
    clearTimeout(nextProbe);
    try {
      await within(probeTimeoutMs, client.eval(probeScript, 1, 'sounds:probe'));
      setUp(true);
    } catch (error) {
      setUp(false, error);
      nextProbe = setTimeout(probe, probeIntervalMs).unref();
    } finally {
      isProbing = false;
    }
  }

  const disconnected = (error: unknown = 'The connection was closed') => setUp(false, error);
  client.on('ready', probe).on('error', disconnected).on('close', disconnected);

  return {
    client,
    isUp: () => isUp === true,

    /**
     * Asks Redis while it is up, and `local` instead while it is down, fails or is late.
     * @param timeoutMs how long to wait for Redis
     */
    async run<T>(
      remote: (client: Redis) => Promise<T>,
      local: () => T | Promise<T>,
      timeoutMs = commandTimeoutMs,
    ): Promise<T> {
      if (!isUp) return local();
      try {
        return await within(timeoutMs, remote(client));
      } catch (error) {
        log.debug({ reason: reasonOf(error) }, 'A command of Redis failed');
        if (!(error instanceof LateError)) setUp(false, error);
        void probe();
        return local();
      }
    },

    /** Calls the listener after every message of the channel, and when Redis goes down or up. */
    subscribe(channel: string, listener: () => void) {
      listeners.push(listener);
      const subscriber = client.duplicate({ enableOfflineQueue: true, maxRetriesPerRequest: null });
      subscriber.on('error', () => {}).on('message', listener); // errors are those of the other connection
      subscriber.subscribe(channel).catch(() => {}); // only when it is closed first
      client.once('end', () => subscriber.disconnect());
    },

    close() {
      clearTimeout(nextProbe);
      client.off('close', disconnected).disconnect();
    },
  };
}

export type SharedRedis = ReturnType<typeof connectRedis>;
