import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type AuthCall, expectAnswer, mapAuthError } from './call.ts';

const Settings = z.object({
  disable_signup: z.boolean(),
  mailer_autoconfirm: z.boolean(),
  external: z.object({ email: z.boolean(), google: z.boolean().optional(), apple: z.boolean().optional() }),
});
export type Settings = z.infer<typeof Settings>;

const ageMs = 60_000;

/** Timeout. Short, because apps wait for the settings when they start. */
const timeoutMs = 2_000;

/**
 * Reads the public settings of Auth: how users can sign up and in.
 * @returns a function that resolves to settings of the last minute or, while Auth does not answer, to the last known
 *   ones. It throws ApiError server_error when none are known.
 */
export function createSettings(call: AuthCall) {
  const known = new LRUCache<'settings', Settings>({
    max: 1,
    ttl: ageMs,
    allowStaleOnFetchRejection: true,
    async fetchMethod() {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await call('settings', { method: 'GET', signal }).catch(mapAuthError(() => undefined));
      return expectAnswer(Settings, answer);
    },
  });
  return { settings: () => known.forceFetch('settings') };
}
