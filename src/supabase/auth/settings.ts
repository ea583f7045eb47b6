import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type AuthCall, expectAnswer, mapAuthError } from './call.ts';

const Settings = z.object({
  disable_signup: z.boolean(),
  mailer_autoconfirm: z.boolean(),
  external: z.object({
    email: z.boolean(),
    google: z.boolean().optional(),
    apple: z.boolean().optional(),
  }),
});
export type Settings = z.infer<typeof Settings>;

/** How old the settings that are known may be, in milliseconds, while Auth gives new ones. */
const ageMs = 60_000;

/** How long Auth may take to give them, in milliseconds: apps wait for them when they start. */
const timeoutMs = 2_000;

/**
 * What the project lets users do, as Auth publishes it.
 * @returns a function that resolves to the settings of the last minute; where Auth does not answer, to the last ones known.
 *   It throws ApiError server_error when there are none.
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
