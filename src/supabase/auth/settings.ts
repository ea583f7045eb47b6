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
    anonymous_users: z.boolean().optional(),
  }),
});
export type Settings = z.infer<typeof Settings>;

const ageMs = 60_000;

/** Timeout. Short, because apps wait for the settings when they start. */
const timeoutMs = 2_000;

export function createSettings(call: AuthCall): () => Promise<Settings> {
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
  return () => known.forceFetch('settings');
}
