import type { Config } from '../../config/config.ts';
import type { Fetch } from '../fetch.ts';
import { createAccounts } from './accounts.ts';
import type { Auth } from './auth.ts';
import { createAuthCall } from './call.ts';
import { createMailedCodes } from './mailed-codes.ts';
import { createPasswordQueue, queueFull } from './password-queue.ts';
import { createSettings } from './settings.ts';
import { createSessions } from './sign-in.ts';
import { createSignUp } from './sign-up.ts';

// Calls the REST API of Auth, because the session methods of the SDK are not made for servers: concurrent refreshes can
// return another user's session, a refresh against a 503 blocks for half a minute, and errors lose status or code.

export function createAuth(config: Config, fetch: Fetch): Auth {
  const call = createAuthCall(config, fetch);
  const { inPasswordQueue, isFullFor } = createPasswordQueue(config.passwordCallsAtOnce);
  const settings = createSettings(call);
  return {
    ...createSignUp(call, inPasswordQueue, settings),
    ...createSessions(call, inPasswordQueue),
    ...createMailedCodes(call, inPasswordQueue),
    ...createAccounts(call, inPasswordQueue),
    settings,
    overload: (ip) => (isFullFor(ip) ? queueFull() : undefined),
  };
}
