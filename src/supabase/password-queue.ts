import { AsyncLocalStorage } from 'node:async_hooks';
import { ipKeyGenerator } from 'express-rate-limit';
import PQueue from 'p-queue';
import { serverError } from '../http/errors.ts';
import { timeLeftMs } from './fetch.ts';

/** A call that got an answer took less than this, or it says nothing about the next one, in milliseconds. */
const longestToBelieveMs = 5_000;

/**
 * The queue of calls that hash a password. Auth hashes with bcrypt and gives up on a request after 10 s: a burst that is let
 * through together fails together. So few are under way at a time. The others wait under their own deadline, and
 * one that has less time left than the last call took fails without having burdened Auth. A call goes before those of
 * clients that had more of them in the queue already, so that nobody's many calls hold up others.
 * @param atOnce how many calls may be under way
 */
export function createPasswordQueue(atOnce: number) {
  const queue = new PQueue({ concurrency: atOnce });
  const callsOf = new Map<string, number>();
  let lastTookMs = 0;

  /** @param ip the client's @throws ApiError server_error when the call cannot be answered in time */
  return async <T>(ip: string, call: () => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(timeLeftMs('auth'));
    const client = ipKeyGenerator(ip, 56);
    const others = callsOf.get(client) ?? 0;
    callsOf.set(client, others + 1);
    try {
      return await queue.add(
        // Bound to the request that waits: the queue goes on in the context of the one that has just been served.
        AsyncLocalStorage.bind(async () => {
          if (timeLeftMs('auth') < Math.min(lastTookMs, longestToBelieveMs))
            throw serverError(new Error('Too many calls that hash a password are waiting'));
          const started = performance.now();
          const answer = await call();
          lastTookMs = performance.now() - started;
          return answer;
        }),
        { signal, priority: -others },
      );
    } finally {
      const left = (callsOf.get(client) ?? 1) - 1;
      if (left === 0) callsOf.delete(client);
      else callsOf.set(client, left);
    }
  };
}

export type PasswordQueue = ReturnType<typeof createPasswordQueue>;
