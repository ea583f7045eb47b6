import { randomUUID } from 'node:crypto';
import { authError, isAuthError, oauthError, unexpectedFailure } from './auth-errors.ts';
import type { ExternalIdentity } from './auth-id-token.ts';
import {
  type AuthService,
  atomically,
  isBanned,
  type Linking,
  privateAuth,
  type Repository,
  type User,
} from './lite.ts';
import { isDatabaseError } from './rest-errors.ts';

/**
 * Signs in the user of an identity, else the user with its verified address, else a new user, as
 * `createAccountFromExternalIdentity` in internal/api/external.go of supabase/auth does.
 * @returns a session
 * @throws AuthError for banned users and for addresses that must be confirmed first, an OAuth error `server_error`
 * when the database fails
 */
export async function signInFromOutside(service: AuthService, identity: ExternalIdentity) {
  const outcome = await atomically(service, (repository) => signIn(service, repository, identity)).catch(
    (error: unknown) => {
      if (!isDatabaseError(error)) throw error;
      console.error('Auth error:', error);
      throw oauthError('server_error', 'Internal Server Error');
    },
  );
  if (isAuthError(outcome)) throw outcome;
  return outcome;
}

/** Signs in within a transaction. Returns an error, instead of throwing it, if the transaction must be committed. */
async function signIn(service: AuthService, repository: Repository, identity: ExternalIdentity) {
  const { provider } = identity;
  const { user, identityId } = await accountOf(service, repository, identity);
  if (isBanned(user)) throw authError(403, 'user_banned', 'User is banned');
  if (!user.email_confirmed_at) {
    // Remove identities of an earlier sign-up, because another person may have made it.
    await privateAuth(service).removeUnconfirmedIdentities(user.id, identityId, identity.data);
    if (!identity.verified && privateAuth(service).config.email.enable_confirmations) {
      // Note the mail that Auth sends here.
      await repository.updateUser(user.id, { confirmation_sent_at: new Date().toISOString() });
      return authError(422, 'provider_email_needs_verification', `Unverified email with ${provider}.`);
    }
    await repository.updateUser(user.id, {
      confirmed_at: new Date().toISOString(),
      raw_user_meta_data: { ...identity.data, email_verified: true },
      // Invalidate codes that were mailed before.
      confirmation_token: null,
      recovery_token: null,
    });
  }
  const confirmed = (await repository.findUserById(user.id)) ?? user;
  const identities = await repository.findIdentitiesByUserId(user.id);
  return privateAuth(service).createSessionForUser(repository.parseUserJson(confirmed), identities, 'user', {
    provider,
  });
}

async function accountOf(
  service: AuthService,
  repository: Repository,
  identity: ExternalIdentity,
): Promise<{ user: User; identityId: string }> {
  const { provider, sub, email, verified, data } = identity;
  const addresses = [{ email, verified, primary: true }];
  const linking: Linking = await privateAuth(service).determineAccountLinking(addresses, provider, sub);
  if (linking.decision === 'MultipleAccounts')
    throw unexpectedFailure('Multiple accounts with the same email address in the same linking domain detected');
  const user =
    linking.decision === 'CreateAccount'
      ? await createUser(repository, identity, linking.candidateEmail.email)
      : linking.user;
  let identityId: string;
  if (linking.decision === 'AccountExists') {
    identityId = linking.identity.id;
    const last_sign_in_at = new Date().toISOString();
    await repository.updateIdentity(identityId, { identity_data: data, last_sign_in_at });
  } else {
    identityId = randomUUID();
    const row = { id: identityId, provider, provider_id: sub, user_id: user.id, identity_data: data };
    await repository.createIdentity(row);
  }
  if (linking.decision !== 'CreateAccount') await privateAuth(service).updateUserMetaDataAndProviders(user.id, data);
  return { user, identityId };
}

async function createUser(repository: Repository, { provider, data }: ExternalIdentity, email: string): Promise<User> {
  const raw_app_meta_data = { provider, providers: [provider] };
  const row = { id: randomUUID(), email, raw_app_meta_data, raw_user_meta_data: data };
  try {
    return await repository.createUser(row);
  } catch (error) {
    throw isDatabaseError(error) ? unexpectedFailure('Database error saving new user') : error;
  }
}
