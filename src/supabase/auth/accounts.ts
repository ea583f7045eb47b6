import { z } from 'zod';
import { tokenRejected } from '../../errors.ts';
import { invalidToken } from '../../model/caller.ts';
import type { Auth } from './auth.ts';
import { type AuthCall, expectAnswer, JsonObject, mapAuthError } from './call.ts';
import { shareInFlight } from './in-flight.ts';
import type { InPasswordQueue } from './password-queue.ts';
import { createPasswordChange, goneCodes, passwordFaults } from './passwords.ts';

/** Identities of a user: at Apple, `sub` is the id of the user there. Auth has null for none. */
const UserIdentities = z.object({
  identities: z
    .array(z.object({ provider: z.string(), identity_data: z.object({ sub: z.string() }) }))
    .nullish()
    .transform((value) => value ?? []),
});

const mapGone = (codes: string[]) =>
  mapAuthError((error) => (codes.includes(error.code) ? invalidToken(error) : undefined));

/** Creates the deletion of an account. Two simultaneous ones of a user share one call. */
function createDeletion(call: AuthCall): Auth['deleteAccount'] {
  const share = shareInFlight();
  return ({ userId, token }) =>
    share(['delete', { token }], async () => {
      expectAnswer(JsonObject, await call('user', { method: 'GET', bearer: token }).catch(mapGone(goneCodes)));
      // Another session of the user may delete the account at the same time.
      const answer = await share(['delete', { userId }], () =>
        call(`admin/users/${userId}`, { method: 'DELETE', asService: true }),
      ).catch(mapGone(['user_not_found']));
      expectAnswer(JsonObject, answer);
    });
}

export function createAccounts(
  call: AuthCall,
  inPasswordQueue: InPasswordQueue,
): Pick<Auth, 'changePassword' | 'appleIds' | 'deleteAccount'> {
  const setPassword = createPasswordChange(call, inPasswordQueue);

  return {
    async changePassword({ token }, { password, currentPassword }, ip) {
      const body = { password, ...(currentPassword !== undefined && { current_password: currentPassword }) };
      await setPassword(token, body, ip).catch(
        mapAuthError((error) => {
          const fault = passwordFaults[error.code]?.();
          if (fault !== undefined) return fault;
          if (error.code === 'reauthentication_needed')
            return tokenRejected('Sign in again to change the password.', { reason: 'recent_sign_in_required' });
          return goneCodes.includes(error.code) ? invalidToken(error) : undefined;
        }),
      );
    },

    async appleIds({ token }) {
      const answer = await call('user', { method: 'GET', bearer: token }).catch(mapGone(goneCodes));
      const { identities } = expectAnswer(UserIdentities, answer);
      return identities.filter(({ provider }) => provider === 'apple').map(({ identity_data }) => identity_data.sub);
    },

    deleteAccount: createDeletion(call),
  };
}
