import type { Config } from '../../config.ts';
import type { Fetch } from '../fetch.ts';
import { createAccounts } from './accounts.ts';
import { createAuthCall, type PasswordQueue } from './call.ts';
import { createSessions } from './sessions.ts';
import { createSettings } from './settings.ts';
import { createSignUp } from './sign-up.ts';

// Auth is called over its REST API. The SDK's session methods were tried and are not made for a server: concurrent
// refreshes on one client can return another user's session, a refresh against a 503 blocks for half a minute, any 2xx
// passes for a sign-out, and the status or code of an error is lost wherever its body is not what the SDK expects.

/**
 * Returns the calls to Supabase Auth.
 * @param inPasswordQueue bounds the calls that hash a password
 */
export function createAuth(config: Config, fetch: Fetch, inPasswordQueue: PasswordQueue) {
  const call = createAuthCall(config, fetch);
  const { settings } = createSettings(call);
  return {
    ...createSignUp(call, inPasswordQueue, settings),
    ...createSessions(call, inPasswordQueue),
    ...createAccounts(call, inPasswordQueue),
    settings,
  };
}

export type Auth = ReturnType<typeof createAuth>;
