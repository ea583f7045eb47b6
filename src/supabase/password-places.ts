import { EventEmitter, once } from 'node:events';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { Semaphore } from 'redis-semaphore';
import { reasonOf } from '../redis.ts';

/**
 * When a place in Redis is free again whose gateway died, in milliseconds. No call takes as long (11 s), also where the clocks
 * of two gateways, which the library compares, differ by some seconds.
 */
const lostAfterMs = 15_000;

/** How often a gateway asks Redis for a place while there is none, in milliseconds: at random, so that none is always late. */
const shortestPauseMs = 50;
const longestPauseMs = 100;

/** So often Redis is asked that does not answer in time: the answer may wait in this process, which is busy. */
const tries = 3;

/** After a failure Redis is left alone for so long, in milliseconds, unless it connects anew. */
const restMs = 5_000;

/**
 * Places for calls that hash a password: so many are under way in this process, and with Redis in all processes
 * together. While Redis fails, each process keeps to the bound by itself.
 */
export function createPasswordPlaces(redis: Redis | null, log?: Logger) {
  const places = new EventEmitter();
  let taken = 0;
  let restUntil = 0;
  redis?.on('ready', () => {
    restUntil = 0;
  });

  function noteFailure(error: unknown) {
    restUntil = performance.now() + restMs;
    log?.debug({ reason: reasonOf(error) }, 'Password calls are bounded by this process alone');
  }

  /** @throws the error of Redis, or the reason of the signal */
  async function acquire(place: Semaphore, signal: AbortSignal) {
    for (let left = tries; ; left--) {
      try {
        return await place.acquire(signal);
      } catch (error) {
        if (signal.aborted || left === 1 || redis?.status !== 'ready') throw error;
      }
    }
  }

  /** @returns what gives the place in Redis back; nothing to give back without one */
  async function takeShared(bound: number, signal: AbortSignal): Promise<() => void> {
    if (redis?.status !== 'ready' || performance.now() < restUntil) return () => {};
    const place = new Semaphore(redis, 'sounds:password-calls', bound, {
      lockTimeout: lostAfterMs,
      refreshInterval: 0, // it outlives every call
      acquireTimeout: Number.POSITIVE_INFINITY, // the signal ends it
      retryInterval: shortestPauseMs + Math.random() * (longestPauseMs - shortestPauseMs),
    });
    const giveBack = () => void place.release().catch(noteFailure);
    try {
      await acquire(place, signal);
    } catch (error) {
      if (!signal.aborted) noteFailure(error);
    }
    if (signal.aborted) giveBack();
    signal.throwIfAborted();
    return giveBack;
  }

  return {
    /**
     * Waits for a place.
     * @param bound at most so many are taken afterwards
     * @returns what gives the place back
     * @throws the reason of the signal
     */
    async take(bound: number, signal: AbortSignal): Promise<() => void> {
      while (taken >= bound) await once(places, 'free', { signal });
      taken += 1;
      const free = () => {
        taken -= 1;
        places.emit('free');
      };
      try {
        const giveBack = await takeShared(bound, signal);
        return () => {
          giveBack(); // first: the next one asks Redis on the same connection
          free();
        };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

export type PasswordPlaces = ReturnType<typeof createPasswordPlaces>;
