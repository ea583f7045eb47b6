import { ipKeyGenerator } from 'express-rate-limit';
import PQueue from 'p-queue';
import { serverError } from '../errors.ts';
import { timeLeftMs } from './fetch.ts';
import type { PasswordPlaces } from './password-places.ts';

/** A call that got an answer took less than this, or it says nothing about the next one, in milliseconds. */
const longestToBelieveMs = 5_000;

/**
 * The queue of calls that hash a password. Auth hashes with bcrypt and gives up on a request after 10 s: a burst that is let
 * through together fails together. So few are under way at a time. The others wait under their own deadline, and
 * one that has less time left than the last call took fails without having burdened Auth.
 *
 * One client's many calls hold up nobody else. Calls under way share Auth's processors, so only a quarter of the places is for
 * clients that had another call in the queue when theirs came: enough to keep the processors busy. Others do not wait behind
 * them, but in a line of their own. Of further calls those go first whose client had fewer in the queue.
 * @param atOnce how many calls may be under way
 */
export function createPasswordQueue(atOnce: number, places: PasswordPlaces) {
  // In each line one at a time waits for a place.
  const onlyCalls = { line: new PQueue({ concurrency: 1 }), bound: atOnce };
  const furtherCalls = { line: new PQueue({ concurrency: 1 }), bound: Math.ceil(atOnce / 4) };
  const callsOf = new Map<string, number>();
  let lastTookMs = 0;

  /** @param ip the client's @throws ApiError server_error when the call cannot be answered in time */
  return async <T>(ip: string, call: () => Promise<T>): Promise<T> => {
    const signal = AbortSignal.timeout(timeLeftMs('auth'));
    const client = ipKeyGenerator(ip, 56);
    const others = callsOf.get(client) ?? 0;
    callsOf.set(client, others + 1);
    try {
      const { line, bound } = others === 0 ? onlyCalls : furtherCalls;
      const giveBack = await line.add(() => places.take(bound, signal), { signal, priority: -others });
      try {
        if (timeLeftMs('auth') < Math.min(lastTookMs, longestToBelieveMs))
          throw serverError(new Error('Too many calls that hash a password are waiting'));
        const started = performance.now();
        const answer = await call();
        lastTookMs = performance.now() - started;
        return answer;
      } finally {
        giveBack();
      }
    } finally {
      const left = (callsOf.get(client) ?? 1) - 1;
      if (left === 0) callsOf.delete(client);
      else callsOf.set(client, left);
    }
  };
}

export type PasswordQueue = ReturnType<typeof createPasswordQueue>;
