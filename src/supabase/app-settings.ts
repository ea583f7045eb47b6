import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Data } from './data.ts';
import type { Result } from './results.ts';

/** Settings for apps, and whether the database accepts guests. */
export type OperatorSettings = Result<'get_app_settings'>;

const ageMs = 60_000;

/** Timeout. Short, because apps wait for the settings when they start. */
const timeoutMs = 2_000;

async function tooLate(): Promise<never> {
  await setTimeout(timeoutMs, undefined, { ref: false });
  throw new Error(`The settings for apps did not arrive within ${timeoutMs} ms`);
}

/**
 * Creates a reader of the settings for apps. It requests them once a minute at most. If the data API fails, it returns
 * the last known ones, because an app that must be updated would go on without its minimum version.
 * @returns a function that throws ApiError, or an Error after 2 s, if no settings are known yet
 */
export function createAppSettings(data: Data): () => Promise<OperatorSettings> {
  const known = new LRUCache<'settings', OperatorSettings>({
    max: 1,
    ttl: ageMs,
    allowStaleOnFetchRejection: true,
    fetchMethod() {
      return Promise.race([data.service.call(null, 'get_app_settings'), tooLate()]);
    },
  });
  return () => known.forceFetch('settings');
}
