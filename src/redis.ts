import { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** A rate limit that waits longer than this for Redis does more harm than one that counts by itself. */
const commandTimeoutMs = 250;

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
 * A connection that never makes a request wait: commands fail at once while it is down, and it comes back by itself.
 * Losing it and getting it back are each logged once.
 */
export function connectRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: commandTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  redis.setMaxListeners(20); // each limit listens
  let connected: boolean | undefined;
  redis.on('ready', () => {
    if (connected !== true) log.info('Redis is connected: rate limits are shared');
    connected = true;
  });
  redis.on('error', (error) => {
    if (connected !== false)
      log.warn({ reason: reasonOf(error) }, 'Redis is out of reach: each process limits by itself');
    connected = false;
  });
  redis.on('close', () => {
    if (connected === true) log.warn('Redis is out of reach: each process limits by itself');
    connected = false;
  });
  return redis;
}
